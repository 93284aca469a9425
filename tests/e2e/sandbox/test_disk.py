"""Disks of tasks: capped, whole after a crash, and never the host's own by mistake."""

import asyncio
import os
import stat
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from entrance.errors import Conflict, NotFound, Unavailable
from entrance.session import TaskId
from orchestrator.adapters.disk import TaskDisks, release_all
from tests.fakes.clock import START

pytestmark = pytest.mark.docker

TASK = TaskId("LAB/T-7")
SIZE = 16 << 20


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "tasks"
    root.mkdir()
    return root


@pytest.fixture
def disks(root: Path) -> Iterator[TaskDisks]:
    yield TaskDisks(root, size_bytes=SIZE)
    release_all(root)


@contextmanager
def memory_at(folder: Path) -> Iterator[None]:
    """A small file system in memory, mounted there."""
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "none", str(folder)]
    subprocess.run(mount, check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", str(folder)], check=True)


@contextmanager
def mounts_kept() -> Iterator[None]:
    """A program with a mount namespace of its own, which keeps what is mounted now."""
    command = ["unshare", "--mount", "sh", "-c", "echo; exec cat"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as keeping:
        assert keeping.stdout is not None
        keeping.stdout.readline()
        yield
        keeping.communicate()


def fill(path: Path, size_bytes: int) -> None:
    with path.open("wb", buffering=0) as file:
        for _ in range(size_bytes >> 20):
            file.write(b"\0" * (1 << 20))
        os.fsync(file.fileno())


def loops(root: Path) -> str:
    listed = subprocess.run(["losetup", "-a"], capture_output=True, text=True, check=True).stdout
    return "\n".join(line for line in listed.splitlines() if str(root) in line)


async def test_a_disk_belongs_to_the_agent_and_can_do_no_tricks(disks: TaskDisks) -> None:
    mounts = await disks.ensure(TASK)
    for folder in (mounts.workspace, mounts.home):
        assert folder.stat().st_uid == 10001
    found = os.statvfs(mounts.workspace)
    assert found.f_flag & os.ST_NOSUID
    assert found.f_flag & os.ST_NODEV


async def test_what_is_beyond_the_cap_is_enospc_and_the_host_stays_unharmed(
    disks: TaskDisks, root: Path
) -> None:
    """CASE-77."""
    mounts = await disks.ensure(TASK)
    with pytest.raises(OSError, match="No space left"):
        fill(mounts.workspace / "fill", 2 * SIZE)
    image = next(root.glob("*/disk.img"))
    assert image.stat().st_blocks * 512 <= SIZE
    assert (await disks.usage(TASK)).free_bytes < 1 << 20


async def test_what_is_on_it_survives_release(disks: TaskDisks, root: Path) -> None:
    mounts = await disks.ensure(TASK)
    (mounts.home / "kept").write_text("x")
    await disks.release(TASK)
    await disks.release(TASK)
    assert loops(root) == ""
    assert not mounts.home.exists()
    with pytest.raises(NotFound):
        await disks.usage(TASK)
    again = await disks.ensure(TASK)
    assert (again.home / "kept").read_text() == "x"


async def test_an_unmounted_mount_point_is_roots_alone(disks: TaskDisks, root: Path) -> None:
    await disks.ensure(TASK)
    await disks.release(TASK)
    mount = next(root.glob("*/mount"))
    assert (stat.S_IMODE(mount.stat().st_mode), mount.stat().st_uid) == (0o700, 0)


async def test_making_it_at_the_same_time_makes_one(disks: TaskDisks, root: Path) -> None:
    made = await asyncio.gather(*(disks.ensure(TASK) for _ in range(5)))
    assert len(set(made)) == 1
    assert len(loops(root).splitlines()) == 1


async def test_a_disk_that_a_crash_left_half_made_is_made_anew(
    disks: TaskDisks, root: Path
) -> None:
    folder = root / "LAB+T-7"
    folder.mkdir()
    (folder / "disk.img.part").write_bytes(b"half")
    mounts = await disks.ensure(TASK)
    assert mounts.workspace.is_dir()
    assert not (folder / "disk.img.part").exists()


async def test_a_crash_between_mount_and_folders_is_repaired(disks: TaskDisks) -> None:
    mounts = await disks.ensure(TASK)
    mounts.workspace.rmdir()
    assert (await disks.ensure(TASK)).workspace.stat().st_uid == 10001


async def test_a_new_process_goes_on_with_a_mounted_disk(disks: TaskDisks, root: Path) -> None:
    """A killed runner leaves its mounts: the kernel keeps them."""
    mounts = await disks.ensure(TASK)
    (mounts.workspace / "work").write_text("x")
    fresh = TaskDisks(root, size_bytes=SIZE)
    assert (await fresh.ensure(TASK)).workspace.joinpath("work").exists()
    assert len(loops(root).splitlines()) == 1


async def test_something_else_mounted_there_is_never_used(disks: TaskDisks, root: Path) -> None:
    await disks.ensure(TASK)
    await disks.release(TASK)
    mount = next(root.glob("*/mount"))
    with memory_at(mount), pytest.raises(Conflict, match="belongs"):
        await disks.ensure(TASK)


async def test_a_broken_image_is_said_in_a_sentence(disks: TaskDisks, root: Path) -> None:
    folder = root / "LAB+T-7"
    folder.mkdir()
    (folder / "disk.img").write_bytes(b"\xff" * (1 << 20))
    with pytest.raises(Unavailable, match="e2fsck failed"):
        await disks.ensure(TASK)


async def test_purge_leaves_nothing(disks: TaskDisks, root: Path) -> None:
    await disks.ensure(TASK)
    await disks.release(TASK)
    await disks.mark(TASK, START)
    await disks.purge(TASK)
    await disks.purge(TASK)
    assert (list(root.iterdir()), loops(root)) == ([], "")


async def test_a_mounted_disk_is_not_purged(disks: TaskDisks) -> None:
    """A run may have begun just now: its container would go on on a file that is gone."""
    mounts = await disks.ensure(TASK)
    with pytest.raises(Conflict, match="is mounted"):
        await disks.purge(TASK)
    assert mounts.workspace.is_dir()


async def test_disks_are_listed_with_what_they_take_and_since_when_they_are_over(
    disks: TaskDisks, root: Path
) -> None:
    mounts = await disks.ensure(TASK)
    fill(mounts.workspace / "fill", 4 << 20)
    await disks.ensure(TaskId("LAB/T-8"))
    await disks.mark(TASK, START)
    (root / "no task of ours").mkdir()
    (root / "no task of ours" / "disk.img").touch()
    one, other = await disks.kept()
    assert (one.task, one.over_since, other.over_since) == (TASK, START, None)
    assert one.used_bytes >= other.used_bytes + (4 << 20)
    assert SIZE > other.used_bytes > 0
    await disks.mark(TASK, None)
    assert [disk.over_since for disk in await disks.kept()] == [None, None]
    await disks.mark(TaskId("LAB/T-9"), START)
    assert not (root / "LAB+T-9").exists()


async def test_what_disks_take_is_said_and_that_there_is_room_for_no_other(root: Path) -> None:
    disks = TaskDisks(root, size_bytes=SIZE)
    await disks.ensure(TASK)
    await disks.release(TASK)
    assert (await disks.check()).startswith("1 take 0.0 GiB of at most 0.0 GiB; ")
    with pytest.raises(Unavailable, match=r"no room for another one: 1 take .*sandgate task purge"):
        await TaskDisks(root, size_bytes=SIZE, headroom_bytes=1 << 60).check()


async def test_a_disk_in_use_is_not_taken_away(disks: TaskDisks) -> None:
    mounts = await disks.ensure(TASK)
    with (mounts.workspace / "open").open("w"), pytest.raises(Unavailable, match="in use"):
        await disks.release(TASK)
    await disks.release(TASK)


async def test_a_disk_that_is_mounted_elsewhere_is_not_mounted_again(disks: TaskDisks) -> None:
    await disks.ensure(TASK)
    with mounts_kept():
        await disks.release(TASK)
        with pytest.raises(Unavailable, match="in another mount namespace"):
            await disks.ensure(TASK)
    await disks.ensure(TASK)


async def test_a_full_host_makes_no_new_disk(root: Path) -> None:
    full = TaskDisks(root, size_bytes=SIZE, headroom_bytes=1 << 60)
    with pytest.raises(Unavailable, match="free some space"):
        await full.ensure(TASK)
    assert not list(root.glob("*/disk.img*"))


async def test_a_host_that_fills_up_meanwhile_is_said(tmp_path: Path) -> None:
    small = tmp_path / "small"
    small.mkdir()
    with memory_at(small):
        disks = TaskDisks(small, size_bytes=SIZE, headroom_bytes=0)
        with pytest.raises(Unavailable, match=r"mkfs\.ext4|is full"):
            await disks.ensure(TASK)
        assert not list(small.glob("*/disk.img"))


async def test_all_disks_are_released_at_once(disks: TaskDisks, root: Path) -> None:
    for number in range(3):
        await disks.ensure(TaskId(f"LAB/T-{number}"))
    assert release_all(root) == ["LAB+T-0", "LAB+T-1", "LAB+T-2"]
    assert loops(root) == ""
