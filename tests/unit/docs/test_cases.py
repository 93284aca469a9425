"""The page about failures that others met names, for each, exactly the tests that name it."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "reference" / "failures-of-others.md"
CASES = range(1, 117)
"""Of egress, of credentials, of git, of MCP, of sandboxes, of harnesses, of Polarion: each has a test."""
CASE = re.compile(r"CASE-(\d+)")
ROW = re.compile(r"^\| CASE-(\d+) \|.*\| ([^|]+) \|$", re.MULTILINE)
NAMED = re.compile(r"\[`(test_\w+)`\]\(\.\./\.\./(tests/[\w/]+\.py)\)")
Tests = frozenset[tuple[str, str]]
"""Names of functions, with the paths of their files."""


def functions(file: Path) -> Iterator[tuple[str, str]]:
    """The tests of a file, with all texts about each: its docstring, and the ids of its parameters."""
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith(
            "test_"
        ):
            ids = (ast.unparse(one) for one in node.decorator_list)
            yield node.name, "\n".join([ast.get_docstring(node) or "", *ids])


def collected() -> Mapping[int, Tests]:
    """The tests that name a case."""
    found: dict[int, set[tuple[str, str]]] = defaultdict(set)
    for file in sorted((ROOT / "tests").rglob("test_*.py")):
        for name, text in functions(file):
            for number in CASE.findall(text):
                found[int(number)].add((name, str(file.relative_to(ROOT))))
    return {number: frozenset(tests) for number, tests in found.items()}


COLLECTED = collected()
ON_THE_PAGE = {
    int(number): frozenset(NAMED.findall(tests)) for number, tests in ROW.findall(PAGE.read_text())
}


def test_the_page_has_each_case_once_and_in_order() -> None:
    assert [int(number) for number, _ in ROW.findall(PAGE.read_text())] == list(CASES)


@pytest.mark.parametrize("number", CASES)
def test_a_case_has_the_tests_that_the_page_names(number: int) -> None:
    assert COLLECTED.get(number)
    assert ON_THE_PAGE.get(number) == COLLECTED[number]
