"""The wait for the disk: it ends by itself, and never well when it did not go well."""

import asyncio
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from time import perf_counter

import pytest

from entrance.disk import SLOW_S, WARY_S, LoopDisk, _before_others


@pytest.fixture
def handle(tmp_path: Path) -> Iterator[int]:
    with (tmp_path / "file").open("wb") as file:
        file.write(b"x" * 100_000)
        file.flush()
        yield file.fileno()


class Told:
    """What the disk says of one sync."""

    def __init__(self) -> None:
        self.over: asyncio.Future[OSError | None] = asyncio.get_running_loop().create_future()
        self.thread = 0

    def __call__(self, error: OSError | None) -> None:
        self.thread = threading.get_ident()
        self.over.set_result(error)


async def within(told: Told) -> OSError | None:
    """What is told, which takes no longer than the slowest of disks."""
    async with asyncio.timeout(30):
        return await told.over


class Caio:
    """Stands for caio's context and its operations: each takes so long, and 0 is at once."""

    takes_s = 0.0
    error = 0

    def __init__(self, handle: int = 0, *, pool_size: int = 0) -> None:
        del handle, pool_size

    @classmethod
    def fdsync(cls, handle: int) -> "Caio":
        return cls(handle)

    def set_callback(self, over: Callable[[int], None]) -> None:
        self.over = over

    def submit(self, operation: "Caio") -> int:
        if self.takes_s:
            threading.Timer(self.takes_s, operation.over, [0]).start()
        else:
            operation.over(0)
        return 1


@pytest.fixture
def caio(monkeypatch: pytest.MonkeyPatch) -> type[Caio]:
    """In the place of the disk, which may be slow at any time."""
    monkeypatch.setattr("entrance.disk.Context", Caio)
    monkeypatch.setattr("entrance.disk.Operation", Caio)
    return Caio


async def test_it_is_told_in_the_loop_and_nobody_waits_in_it(handle: int) -> None:
    told = [Told() for _ in range(3)]
    disk = LoopDisk()
    for each in told:
        disk.sync(handle, each)
        assert not each.over.done()
    assert [await within(each) for each in told] == [None, None, None]
    assert {each.thread for each in told} == {threading.get_ident()}


@pytest.mark.usefixtures("caio")
async def test_who_is_in_a_hurry_has_it_told_at_once_and_once(handle: int) -> None:
    disk, told = LoopDisk(lambda: 1.0), Told()
    disk.hurry()  # nothing was begun
    disk.sync(handle, told)
    disk.hurry()
    assert told.over.result() is None
    disk.hurry()  # there is nothing left to wait for
    await asyncio.sleep(0)  # the thread's own word of it is on its way to the loop


async def test_a_disk_that_was_slow_no_longer_holds_the_loop_until_it_is_trusted_again(
    handle: int, caio: type[Caio], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(caio, "takes_s", 20 * SLOW_S)
    now = [1.0]
    disk = LoopDisk(lambda: now[0])
    disk.sync(handle, slow := Told())
    began = perf_counter()
    disk.hurry()
    assert not slow.over.done()
    assert perf_counter() - began >= SLOW_S
    assert await within(slow) is None
    monkeypatch.setattr(caio, "takes_s", 0)
    for now[0], trusted in ((1.1, False), (0.9 + WARY_S, False), (1.1 + WARY_S, True)):
        disk.sync(handle, fast := Told())
        disk.hurry()
        assert fast.over.done() == trusted
        await within(fast)


def policies() -> dict[int, int]:
    """How each thread of this process is scheduled."""
    found = {}
    for thread in Path("/proc/self/task").iterdir():
        with suppress(ProcessLookupError):
            found[int(thread.name)] = os.sched_getscheduler(int(thread.name))
    return found


async def test_only_the_thread_of_the_disk_goes_before_others(handle: int) -> None:
    try:
        with _before_others():
            allowed = os.sched_getscheduler(0) == os.SCHED_RR
    finally:
        assert os.sched_getscheduler(0) == os.SCHED_OTHER
    before = policies()
    disk = LoopDisk(lambda: 1.0)
    disk.sync(handle, told := Told())
    await within(told)
    fresh = [policy for thread, policy in policies().items() if thread not in before]
    assert (os.SCHED_RR in fresh) == allowed
    assert os.sched_getscheduler(0) == os.SCHED_OTHER


async def test_it_does_without_where_that_is_not_allowed(
    handle: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "sched_setscheduler", refused)
    disk = LoopDisk(lambda: 1.0)
    disk.sync(handle, told := Told())
    assert await within(told) is None


async def test_what_has_no_disk_is_an_error() -> None:
    reader, writer = os.pipe()
    disk = LoopDisk(lambda: 1.0)
    try:
        disk.sync(writer, told := Told())
        assert "Invalid argument" in str(await within(told))
    finally:
        os.close(reader)
        os.close(writer)


async def test_a_file_that_is_closed_is_an_error() -> None:
    disk = LoopDisk(lambda: 1.0)
    disk.sync(999_999, told := Told())
    disk.hurry()
    assert "Bad file descriptor" in str(await within(told))
