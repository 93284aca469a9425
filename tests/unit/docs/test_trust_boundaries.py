"""The page on trust boundaries names each promise in its test's own words, and links what is there."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "explanation" / "trust-boundaries.md"
ESCAPE = ROOT / "tests" / "e2e" / "escape"
ROW = re.compile(r"^\| (.+) \| (.+) \| \[`(test_\w+)`\]\((\S+)\) \|$", re.MULTILINE)
LINK = re.compile(r"\]\(([^)#]+)\)")


def promises() -> Iterator[tuple[str, str, Path]]:
    """Each escape test: its name, its docstring's first line without case numbers, its file."""
    for file in sorted(ESCAPE.glob("test_*.py")):
        for node in ast.parse(file.read_text()).body:
            if (
                isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
                and node.name[:5] == "test_"
            ):
                said = (ast.get_docstring(node) or "").partition("\n")[0]
                yield node.name, re.sub(r" \(CASE[^)]*\)", "", said), file


def test_every_promise_is_on_the_page_in_its_tests_words() -> None:
    rows = [
        (test, promise, (PAGE.parent / target).resolve())
        for promise, _, test, target in ROW.findall(PAGE.read_text())
    ]
    assert sorted(rows) == sorted(promises())
    assert len(rows) > 30


def test_every_promise_names_a_wall() -> None:
    assert all(wall.strip() for _, wall, _, _ in ROW.findall(PAGE.read_text()))


@pytest.mark.parametrize("target", sorted(set(LINK.findall(PAGE.read_text()))))
def test_every_link_of_the_page_leads_somewhere(target: str) -> None:
    assert (PAGE.parent / target).exists()
