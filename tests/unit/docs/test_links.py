"""Every link between the pages leads somewhere: to a file that is there, and to a heading in it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
DOCS = sorted((ROOT / "docs").rglob("*.md"))
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *DOCS]
CODE = re.compile(r"^```.*?^```|`[^`\n]*`", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
ELSEWHERE = ("http://", "https://", "mailto:")


@dataclass(frozen=True, slots=True)
class Link:
    """A link as it is written on a page."""

    page: Path
    target: str

    @property
    def trouble(self) -> str:
        """Why it leads nowhere; empty when it doesn't."""
        path, _, anchor = self.target.partition("#")
        file = (self.page.parent / path).resolve() if path else self.page
        if not file.exists():
            return f"{path} is not there"
        if anchor and anchor not in anchors(file.read_text()):
            return f"{path} has no heading #{anchor}"
        return ""


def links(page: Path) -> Iterator[Link]:
    """The page's links to other files of the project; links in code are only words."""
    for target in LINK.findall(CODE.sub("", page.read_text())):
        if not target.startswith(ELSEWHERE):
            yield Link(page, target)


def anchors(text: str) -> set[str]:
    """The anchors of a page's headings, as they are made from them on the web."""
    headings = re.findall(r"^#{1,6} +(.+?) *$", re.sub(r"(?ms)^```.*?^```", "", text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", words.lower()).replace(" ", "-") for words in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_of_a_page_leads_somewhere(page: Path) -> None:
    assert {link.target: link.trouble for link in links(page) if link.trouble} == {}


def test_every_page_can_be_reached_from_the_map() -> None:
    index = ROOT / "docs" / "index.md"
    seen: set[Path] = set()
    wanted = [index]
    while wanted:
        page = wanted.pop()
        if page.suffix != ".md" or page in seen or not page.exists():
            continue
        seen.add(page)
        wanted += [(page.parent / link.target.partition("#")[0]).resolve() for link in links(page)]
    assert {str(page.relative_to(ROOT)) for page in set(DOCS) - seen} == set()


def test_a_link_to_a_file_or_a_heading_that_is_not_there_is_found(tmp_path: Path) -> None:
    (tmp_path / "b.md").write_text("# One `thing`, twice\n")
    page = tmp_path / "a.md"
    page.write_text(
        "[ok](b.md#one-thing-twice) [gone](c.md) [no](b.md#two) `[code](d.md)` [web](https://x.y/z)"
    )
    assert [link.trouble for link in links(page)] == [
        "",
        "c.md is not there",
        "b.md has no heading #two",
    ]
