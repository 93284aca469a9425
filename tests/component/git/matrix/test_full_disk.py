"""The disk on which pushes wait is full: the agent is told, and nothing goes on."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.component.git.matrix import acts
from tests.component.git.matrix.acts import to
from tests.component.git.matrix.promises import left_behind, pushes_at_host
from tests.component.git.matrix.test_refused import Row, assert_refused
from tests.component.git.matrix.test_taken import Row as Taken
from tests.component.git.matrix.test_taken import assert_taken
from tests.servers.git import Door

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root makes a small disk")
FULL = "the door's disk is full; nothing was pushed, try again later"


@pytest.fixture
def limits(small_disk: Path) -> dict[str, Any]:
    """As always; the disk is there before the door is."""
    del small_disk
    return {}


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Four megabytes, for all that the door keeps of pushes."""
    kept = tmp_path / "kept"
    kept.mkdir()
    subprocess.run(("mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", kept), check=True)
    yield kept
    subprocess.run(("umount", "--lazy", kept), check=True)


@pytest.mark.parametrize(
    "size",
    [
        pytest.param(3 << 20, id="the bytes have room, and the objects not"),
        pytest.param(6 << 20, id="the bytes have no room"),
    ],
)
async def test_a_push_that_has_no_room_is_refused(at_door: Door, clone: Path, size: int) -> None:
    await acts.write_random(size)(at_door, clone)
    await assert_refused(at_door, clone, Row("", (to("fix"),), (FULL, "[remote rejected]")), ())
    assert not left_behind(at_door)

    await acts.go_back(at_door, clone)
    await acts.commit(at_door, clone)
    await assert_taken(at_door, clone, Taken("", acts.nothing), ())


async def test_without_room_for_anything_no_push_is_taken(
    at_door: Door, clone: Path, small_disk: Path
) -> None:
    filler = small_disk / "filler"
    with filler.open("wb", buffering=0) as file, suppress(OSError):
        while file.write(bytes(1 << 12)):
            pass
    await acts.commit(at_door, clone)

    await assert_refused(
        at_door, clone, Row("", (to("fix"),), ("[remote rejected]", "No space left")), ()
    )

    assert not pushes_at_host(at_door)
    filler.unlink()
    await assert_taken(at_door, clone, Taken("", acts.nothing), ())


async def test_the_last_of_the_disk_is_not_for_pushes(
    at_door: Door, clone: Path, small_disk: Path
) -> None:
    """What the door decides must be recorded on it."""
    await acts.commit(at_door, clone)
    await assert_taken(at_door, clone, Taken("", acts.nothing), ())
    filler = small_disk / "filler"
    left = os.statvfs(small_disk)
    filler.write_bytes(bytes(left.f_bavail * left.f_frsize - (100 << 10)))
    await at_door.commit(clone, "more.txt")

    await assert_refused(at_door, clone, Row("", (to("again"),), (FULL, "[remote rejected]")), ())

    filler.unlink()
    await assert_taken(at_door, clone, Taken("", acts.nothing), ())
