"""What agents wrote does nothing at a git host but stand there."""

import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from orchestrator.domain.escaping import BREAK, block, code, inline, title

REFERS = re.compile(r"[@#!~%$^&](?=[A-Za-z0-9])|\b(?:GH|[A-Z][A-Z0-9]+)-\d|https?://|\bwww\.\w")
CLOSES = re.compile(
    r"\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?)\b:?\s+(?:\S*#\d|https?://|[A-Z]+-\d)",
    re.IGNORECASE,
)
HOSTILE = (
    "Fixes #4",
    "closes: team/thing#12 and #13",
    "Resolves https://github.com/team/thing/issues/4",
    "fixes GH-4, implements ABC-7",
    "@root @team/owners please merge",
    "/close\n/merge\n/assign @root",
    "> quoted\n> /approve",
    "## Tests\n\n| a | b |\n|---|---|\n| all | passed |",
    "Setext\n===\nand\n---",
    "```\ncode\n```\n~~~\nmore\n~~~",
    "    indented code",
    "<details><summary>x</summary>\n\n## Tests\n</details>",
    "<img src=x onerror=alert(1)><!-- sandgate -->",
    "[click](javascript:alert(1)) ![x](http://evil/x.png) <http://evil>",
    "[ref]: http://evil 'x'\n[ref]",
    "- [x] done\n1. one\n2) two\n+ plus\n* star",
    "a | b || c\\| d",
    "\u202egnp.exe \u2066x\u2069 \x1b[2Jred \x00 \u200b#4",
    "&#35;4 &lt;b&gt; &commat;root",
    "www.evil.example and mail@evil.example",
    "$$x$$ \\(y\\) `z` ``w``",
    "line\r\nline\u2028line\x85line",
    "!5 ~label %1 &3 ^alert",
    "\\@root \\#4 \\\\#4",
    ":tada: [^1] {{x}} {% y %}",
)


class _Read(HTMLParser):
    """The elements and the text of HTML."""

    def __init__(self) -> None:
        super().__init__()
        self.elements: set[str] = set()
        self.words = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.add(tag)

    def handle_data(self, data: str) -> None:
        self.words += data


def rendered(markdown: str) -> _Read:
    read = _Read()
    read.feed(MarkdownIt("gfm-like", {"linkify": False}).render(markdown))
    return read


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_words_stand_as_they_are_in_one_quotation(text: str) -> None:
    read = rendered(block(text, 10_000))
    assert read.elements <= {"blockquote", "p", "br"}, block(text, 10_000)
    for made in (block(text, 10_000), read.words, inline(text, 10_000), title(text, 10_000)):
        assert not CLOSES.search(made)
    assert not REFERS.search(read.words.replace("&", ""))
    assert not re.search(r"^/", block(text, 10_000), re.MULTILINE)


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_words_stay_in_their_cell(text: str) -> None:
    read = rendered(f"| a | b |\n|---|---|\n| {inline(text, 10_000)} | end |\n")
    assert read.elements <= {"table", "thead", "tbody", "tr", "th", "td"}
    lines = f"| {inline(text, 10_000)} | end |".splitlines()
    assert len(lines) == 1
    html = MarkdownIt("gfm-like", {"linkify": False}).render(
        f"| a | b |\n|---|---|\n| {inline(text, 10_000)} | end |\n"
    )
    assert html.count("<td") == 2
    assert html.rstrip().endswith("<td>end</td>\n</tr>\n</tbody>\n</table>")


@given(
    st.text(alphabet=st.sampled_from("#@!/\\`*_[]()<>&|~-+=.:1aA\n\t ${}^'\"") | st.characters())
)
def test_whatever_is_written_is_text_in_one_quotation(text: str) -> None:
    made = block(text, 500)
    read = rendered(made)
    assert read.elements <= {"blockquote", "p", "br"}
    assert all(line.startswith(">") for line in made.splitlines())
    seen = re.sub(rf"[\s{BREAK}\u00a0]+", "", read.words)
    wanted = re.sub(r"\s+", "", text)
    if wanted.isascii() and wanted.isprintable() and len(text) < 100:
        assert seen == wanted


def test_ordinary_words_are_not_touched() -> None:
    assert inline("I fixed it, and closed the file.", 100) == "I fixed it, and closed the file."
    assert title("Fix the parser", 100) == "Fix the parser"


def test_a_name_can_be_copied_and_what_is_more_than_a_name_is_escaped() -> None:
    assert code("agent/DEMO-7/fix") == "`agent/DEMO-7/fix`"
    assert code("a`b|c") == "a\\`b\\|c"
    assert BREAK in code("@root")


def test_what_is_too_long_says_so() -> None:
    assert len(block("x" * 10_000, 100)) < 120
    assert "..." in inline("word " * 100, 50)
    assert block(" \n\t\n", 100) == ""
