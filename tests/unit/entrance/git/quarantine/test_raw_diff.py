"""What git prints of changed paths."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from entrance.git.checks.facts import Change
from entrance.git.quarantine.raw_diff import DiffBrokenError, RawDiffReader

A, B, C, NONE = b"a" * 40, b"b" * 40, b"c" * 40, b"0" * 40
FIRST, MERGE = b"1" * 40, b"2" * 40
PRINTED = b"\0".join(
    [
        FIRST,
        b":000000 100644 " + NONE + b" " + A + b" A",
        b"new\nline :100644",
        b":100644 120000 " + A + b" " + B + b" T",
        b"link",
        MERGE,
        b"::100644 100755 100644 " + A + b" " + B + b" " + C + b" MM",
        MERGE,
        b"",
    ]
)
CHANGES = [
    Change(FIRST.decode(), b"new\nline :100644", 0, 0o100644, NONE.decode(), A.decode()),
    Change(FIRST.decode(), b"link", 0o100644, 0o120000, A.decode(), B.decode()),
    Change(MERGE.decode(), MERGE, 0o100644, 0o100644, A.decode(), C.decode()),
]


def read(*pieces: bytes) -> list[Change]:
    reader = RawDiffReader()
    found = [change for piece in pieces for change in reader.feed(piece)]
    reader.end()
    return found


@given(st.lists(st.integers(0, len(PRINTED)), max_size=6).map(sorted))
def test_it_is_read_at_any_split_also_a_path_that_looks_like_something_else(
    cuts: list[int],
) -> None:
    ends = [0, *cuts, len(PRINTED)]
    assert read(*(PRINTED[a:b] for a, b in itertools.pairwise(ends))) == CHANGES


@pytest.mark.parametrize(
    "printed",
    [
        pytest.param(PRINTED[:-1], id="broken off in a path"),
        pytest.param(FIRST + b"\0:100644 100644 " + A + b" " + B + b" M\0", id="no path"),
        pytest.param(b":100644 100644 " + A + b" " + B + b" M\0x\0", id="no commit"),
        pytest.param(FIRST + b"\0:100644 100644 " + A + b" M\0x\0", id="a field too few"),
        pytest.param(FIRST + b"\0:100648 100644 " + A + b" " + B + b" M\0x\0", id="no mode"),
        pytest.param(b"fatal: something\0", id="words"),
    ],
)
def test_what_git_would_not_print_is_refused(printed: bytes) -> None:
    with pytest.raises(DiffBrokenError):
        read(printed)
