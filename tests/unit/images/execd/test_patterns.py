"""Globs, ranges and modes mean what the contract says."""

import fnmatch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from execd.errors import Refused
from execd.patterns import Span, by_name, byte_range, glob, mode_bits


@pytest.mark.parametrize(
    ("header", "span"),
    [
        ("bytes=0-3", Span(0, 4)),
        ("bytes=4-", Span(4, 10)),
        ("bytes=-3", Span(7, 10)),
        ("bytes=-30", Span(0, 10)),
        ("bytes=8-99", Span(8, 10)),
        ("bytes=0-1,3-4", None),
        ("lines=1-2", None),
        ("bytes=-", None),
        ("bytes=5-2", None),
    ],
)
def test_a_range_names_bytes_of_the_file(header: str, span: Span | None) -> None:
    assert byte_range(header, 10) == span


@pytest.mark.parametrize("header", ["bytes=10-", "bytes=99-100", "bytes=-0"])
def test_a_range_with_nothing_in_it_is_refused(header: str) -> None:
    with pytest.raises(Refused) as refused:
        byte_range(header, 10)
    assert refused.value.status == 416


@pytest.mark.parametrize(
    ("written", "bits"), [(755, 0o755), ("644", 0o644), (4755, 0o4755), (0, None), (None, None)]
)
def test_a_mode_is_octal_digits(written: object, bits: int | None) -> None:
    assert mode_bits(written) == bits


@pytest.mark.parametrize("written", [888, -1, "rwx", 77777, True, 7.5])
def test_what_is_no_mode_is_refused(written: object) -> None:
    with pytest.raises(Refused):
        mode_bits(written)


@pytest.mark.parametrize(
    ("pattern", "path", "matches"),
    [
        ("*.py", "a.py", True),
        ("src/*.py", "src/a.py", True),
        ("src/*.py", "src/x/a.py", False),
        ("**", "any/thing", True),
        ("**/*.py", "a.py", True),
        ("**/*.py", "x/y/a.py", True),
        ("a/**/z", "a/z", True),
        ("a/**", "a/b/c", True),
        ("[a-c].txt", "b.txt", True),
        ("[!a-c].txt", "b.txt", False),
        ("[]].txt", "].txt", True),
        ("?.txt", "/.txt", False),
        ("a[", "a[", True),
        ("a+(b)", "a+(b)", True),
    ],
)
def test_a_glob_matches_as_a_shell_would(pattern: str, path: str, matches: bool) -> None:  # noqa: FBT001  # a table
    assert (glob(pattern).fullmatch(path) is not None) is matches


@given(st.text(alphabet="ab*?[]-!^\\.+(", max_size=8), st.text(alphabet="ab-!^\\.+([]", max_size=6))
def test_a_glob_without_slashes_agrees_with_the_standard_library(pattern: str, name: str) -> None:
    if "**" in pattern or "[^" in pattern or "-" in pattern or "\\" in pattern:
        return  # where we mean something else, or refuse a range that runs backwards
    assert (glob(pattern).fullmatch(name) is not None) == fnmatch.fnmatchcase(name, pattern)


def test_a_range_that_runs_backwards_is_refused() -> None:
    with pytest.raises(Refused, match="not a glob"):
        glob("[z-a]")


def test_a_pattern_without_slash_is_meant_for_names() -> None:
    assert by_name("*.py")
    assert not by_name("**")
    assert not by_name("a/*.py")
