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


async def test_it_is_told_in_the_loop_and_nobody_waits_in_it(handle: int) -> None:
    told = [Told() for _ in range(3)]
    disk = LoopDisk()
    for each in told:
        disk.sync(handle, each)
        assert not each.over.done()
    async with asyncio.timeout(5):
        assert [await each.over for each in told] == [None, None, None]
    assert {each.thread for each in told} == {threading.get_ident()}


async def test_who_is_in_a_hurry_has_it_told_at_once_and_once(handle: int) -> None:
    disk, told = LoopDisk(lambda: 1.0), Told()
    assert not disk.hurry(), "nothing was begun"
    disk.sync(handle, told)
    assert disk.hurry()
    assert told.over.result() is None
    assert not disk.hurry(), "there is nothing left to wait for"
    await asyncio.sleep(0.05)  # the thread's own word of it is on its way to the loop


class SlowDisk:
    """Stands for `caio`'s context and operation: each takes so long."""

    takes_s = 20 * SLOW_S
    error = 0

    def __init__(self, handle: int = 0, *, pool_size: int = 0) -> None:
        del handle, pool_size

    @classmethod
    def fdsync(cls, handle: int) -> "SlowDisk":
        return cls(handle)

    def set_callback(self, over: Callable[[int], None]) -> None:
        self.over = over

    def submit(self, operation: "SlowDisk") -> int:
        threading.Timer(self.takes_s, operation.over, [0]).start()
        return 1


async def test_a_disk_that_was_slow_no_longer_holds_the_loop_until_it_is_trusted_again(
    handle: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("entrance.disk.Context", SlowDisk)
    monkeypatch.setattr("entrance.disk.Operation", SlowDisk)
    now = [1.0]
    disk = LoopDisk(lambda: now[0])
    disk.sync(handle, slow := Told())
    began = perf_counter()
    assert not disk.hurry()
    assert SLOW_S <= perf_counter() - began < SlowDisk.takes_s
    async with asyncio.timeout(5):
        assert await slow.over is None
    monkeypatch.setattr(SlowDisk, "takes_s", 0)
    for now[0], trusted in ((1.1, False), (0.9 + WARY_S, False), (1.1 + WARY_S, True)):
        disk.sync(handle, fast := Told())
        assert disk.hurry() == trusted
        async with asyncio.timeout(5):
            await fast.over


def policies() -> list[int]:
    """How each thread of this process is scheduled."""
    found = []
    for thread in Path("/proc/self/task").iterdir():
        with suppress(ProcessLookupError):
            found.append(os.sched_getscheduler(int(thread.name)))
    return found


async def test_only_the_thread_of_the_disk_goes_before_others(handle: int) -> None:
    try:
        with _before_others():
            allowed = os.sched_getscheduler(0) == os.SCHED_RR
    finally:
        assert os.sched_getscheduler(0) == os.SCHED_OTHER
    before = policies().count(os.SCHED_RR)
    disk = LoopDisk(lambda: 1.0)
    disk.sync(handle, Told())
    assert disk.hurry()
    assert policies().count(os.SCHED_RR) == before + allowed
    assert os.sched_getscheduler(0) == os.SCHED_OTHER


async def test_it_does_without_where_that_is_not_allowed(
    handle: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "sched_setscheduler", refused)
    disk = LoopDisk(lambda: 1.0)
    disk.sync(handle, told := Told())
    assert disk.hurry()
    assert told.over.result() is None


async def test_what_has_no_disk_is_an_error() -> None:
    reader, writer = os.pipe()
    disk = LoopDisk(lambda: 1.0)
    try:
        disk.sync(writer, beside := Told())
        async with asyncio.timeout(5):
            assert "Invalid argument" in str(await beside.over)
        disk.sync(writer, in_the_loop := Told())
        assert disk.hurry()
        assert "Invalid argument" in str(in_the_loop.over.result())
    finally:
        os.close(reader)
        os.close(writer)


async def test_a_file_that_is_closed_is_an_error() -> None:
    disk = LoopDisk(lambda: 1.0)
    disk.sync(999_999, told := Told())
    assert disk.hurry()
    assert "Bad file descriptor" in str(told.over.result())
