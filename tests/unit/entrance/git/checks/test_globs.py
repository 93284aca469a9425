"""Globs over paths mean what a plain reading of them says."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from entrance.git.checks.globs import Globs, folded

NAMES = st.sampled_from(["a", "b", "ab", "ba.c", "ab.c", ".x"])
PATHS = st.lists(NAMES, min_size=1, max_size=5).map("/".join)
PARTS = st.one_of(st.just("**"), st.just("*"), NAMES, st.sampled_from(["a*", "*.c", "?b", "*b*"]))
GLOBS = st.lists(PARTS, min_size=1, max_size=4).map("/".join)


def reads_as(glob: list[str], path: list[str]) -> bool:
    """The oracle: part by part, every way that `**` can go."""
    if not glob:
        return not path
    if glob[0] == "**":
        if len(glob) == 1:
            return bool(path)
        return any(reads_as(glob[1:], path[start:]) for start in range(len(path) + 1))
    return bool(path) and spells(glob[0], path[0]) and reads_as(glob[1:], path[1:])


def spells(pattern: str, name: str) -> bool:
    if not pattern:
        return not name
    if pattern[0] == "*":
        return any(spells(pattern[1:], name[start:]) for start in range(len(name) + 1))
    return bool(name) and pattern[0] in {"?", name[0]} and spells(pattern[1:], name[1:])


@given(GLOBS, PATHS)
def test_a_glob_is_read_part_by_part(glob: str, path: str) -> None:
    assert Globs([glob]).match(path) is reads_as(glob.split("/"), path.split("/"))


@given(st.lists(GLOBS, max_size=4), PATHS)
def test_several_globs_are_one_question(globs: list[str], path: str) -> None:
    assert Globs(globs).match(path) is any(Globs([one]).match(path) for one in globs)


@given(GLOBS, PATHS)
def test_a_folder_on_the_way_is_one_that_a_path_of_the_glob_can_go_through(
    glob: str, path: str
) -> None:
    parts = glob.split("/")
    ways = [parts[:end] for end in range(1, len(parts)) if set(parts[end - 1]) - {"*"}]
    leads = any(reads_as(way, path.split("/")) for way in ways)
    assert Globs([glob]).lead_through(path) is leads


@pytest.mark.parametrize("name", ["a.b", "a+b", "a(b", "a[b]", "a|b", "^a$", "a\\b", "a{2}"])
def test_letters_that_mean_something_elsewhere_mean_themselves(name: str) -> None:
    assert Globs([name]).match(folded(name.encode()))
    assert not Globs([name]).match("ab")
    assert not Globs(["a|b"]).match("a")


@pytest.mark.parametrize(
    "path",
    [
        b".GITHUB/Workflows/CI.yml",
        b".github./workflows /ci.yml...",
        b".github/workflows/ci.yml::$DATA",
        ".g\u200ciithub/x".replace("ii", "i").encode(),
        "\ufeff.github".encode(),
        ".git\u0068ub".encode(),
        ".gi\u200dthub".encode(),
    ],
)
def test_spellings_that_some_file_system_takes_for_one_are_one(path: bytes) -> None:
    assert folded(path).startswith(".github")


def test_composed_and_decomposed_letters_are_one() -> None:
    assert folded("Caf\u00e9".encode()) == folded("cafe\u0301".encode())
    assert folded(b"STRASSE") == folded("stra\u00dfe".encode())


@given(st.binary(max_size=80))
def test_folding_twice_is_folding_once(path: bytes) -> None:
    once = folded(path)
    assert folded(once.encode("utf-8", "surrogateescape")) == once


def test_nothing_matches_no_globs() -> None:
    assert not Globs([]).match("a")
    assert not Globs([]).lead_through("a")
