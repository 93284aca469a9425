"""What a looker leaves to the next one can't be changed by it any more, whatever it reads."""

import os
from collections.abc import Iterator

import pytest

from entrance.git.quarantine.compiled import keep, kept_in, memory


@pytest.fixture
def handle() -> Iterator[int]:
    opened = memory()
    yield opened
    os.close(opened)


def test_what_is_kept_is_there_for_the_next_one(handle: int) -> None:
    assert kept_in(handle) is None
    keep(handle, b"compiled")
    assert kept_in(handle) == b"compiled"


def test_what_could_still_be_changed_is_not_taken(handle: int) -> None:
    os.pwrite(handle, b"anything", 0)
    assert kept_in(handle) is None


def test_what_is_kept_stays_as_it_is(handle: int) -> None:
    keep(handle, b"compiled")

    keep(handle, b"another's")
    with pytest.raises(PermissionError):
        os.pwrite(handle, b"other", 0)
    with pytest.raises(PermissionError):
        os.ftruncate(handle, 0)

    assert kept_in(handle) == b"compiled"
