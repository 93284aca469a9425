"""The threat model names tests that are there, by their names and in their files."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "explanation" / "threat-model.md"
NAMED = re.compile(r"\[`(test_\w+)`\]\(([^)]+)\)")
ROW = re.compile(r"^\| (?!attack \||---)(.+)\|$", re.MULTILINE)


def functions_in(file: Path) -> set[str]:
    return {
        node.name
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }


@pytest.mark.parametrize(("test", "target"), sorted(set(NAMED.findall(PAGE.read_text()))))
def test_a_test_that_is_named_is_there(test: str, target: str) -> None:
    assert test in functions_in((PAGE.parent / target).resolve())


def test_every_attack_names_a_test() -> None:
    after = PAGE.read_text().partition("## What they are after")[2].partition("## Out of scope")[0]
    rows = ROW.findall(after)
    assert len(rows) > 20
    assert [row for row in rows if not NAMED.search(row)] == []
