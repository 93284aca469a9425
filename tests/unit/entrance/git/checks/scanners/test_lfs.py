"""Pointers of Git LFS are told from files."""

import pytest

from entrance.git.checks.facts import Pointer
from entrance.git.checks.scanners.scan import Scan

OID, SHA = "b" * 40, "e" * 64
POINTER = f"version https://git-lfs.github.com/spec/v1\noid sha256:{SHA}\nsize 12345\n"


def pointer(text: str) -> Pointer | None:
    scan = Scan(OID, "blob", len(text.encode()))
    scan.feed(text.encode())
    return scan.seen().pointer


@pytest.mark.parametrize(
    "text",
    [
        POINTER,
        POINTER.rstrip(),
        POINTER.replace("\n", "\r\n"),
        POINTER.replace("https://git-lfs", "http://git-lfs"),
        POINTER.replace("git-lfs.github", "hawser.github"),
        POINTER.replace("oid", "ext-0-foo sha256:" + "a" * 64 + "\noid"),
        POINTER + "\n\n",
    ],
)
def test_a_pointer_is_one_however_it_is_written(text: str) -> None:
    assert pointer(text) == Pointer(OID, SHA, 12345)


@pytest.mark.parametrize(
    "text", ["", "version 1\n", "A text about " + POINTER, POINTER + "x" * 1024]
)
def test_a_file_is_no_pointer(text: str) -> None:
    assert pointer(text) is None


def test_a_pointer_without_its_file_is_one_all_the_same() -> None:
    assert pointer("version https://git-lfs.github.com/spec/v1\n") == Pointer(OID, "", 0)
