"""The wait for the disk: it ends by itself, and never well when it did not go well."""

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from entrance.disk import LONE_S, SLOW_S, WARY_S, LoopDisk


class Clock:
    """Says the times that it was given, in order, and then the last one again."""

    def __init__(self, *times: float) -> None:
        self.times = list(times)

    def __call__(self) -> float:
        return self.times.pop(0) if len(self.times) > 1 else self.times[0]


@pytest.fixture
def handle(tmp_path: Path) -> Iterator[int]:
    with (tmp_path / "file").open("wb") as file:
        file.write(b"x" * 100_000)
        file.flush()
        yield file.fileno()


async def waited_for(disk: LoopDisk, handle: int, *, alone: bool = False) -> bool:
    """Whether it was waited for in the loop; else it was beside it, and is over now, too."""
    loop = asyncio.get_running_loop()
    over: asyncio.Future[OSError | None] = loop.create_future()

    def done(error: OSError | None) -> None:
        loop.call_soon_threadsafe(over.set_result, error)

    if disk.sync(handle, done, alone=alone):
        return True
    async with asyncio.timeout(5):
        assert await over is None
    return False


async def test_a_lone_line_is_waited_for_at_once_and_the_next_ones_beside_the_loop(
    handle: int,
) -> None:
    disk = LoopDisk(Clock(1, 1, 1 + LONE_S / 2, 2, 2))
    ways = [await waited_for(disk, handle) for _ in range(3)]
    assert ways == [True, False, True]


async def test_one_that_holds_up_nobody_is_waited_for_at_once_however_soon_it_comes(
    handle: int,
) -> None:
    disk = LoopDisk(Clock(1, 1, 1 + LONE_S / 2, 1 + LONE_S / 2, 1 + LONE_S / 2))
    ways = [await waited_for(disk, handle, alone=alone) for alone in (True, True, False)]
    assert ways == [True, True, False]


async def test_a_disk_that_was_slow_no_longer_keeps_the_loop_waiting_until_it_is_trusted_again(
    handle: int,
) -> None:
    disk = LoopDisk(Clock(1, 1 + 2 * SLOW_S, 2, 0.5 + WARY_S, 1 + WARY_S, 1 + WARY_S))
    ways = [await waited_for(disk, handle) for _ in range(4)]
    assert ways == [True, False, False, True]


async def test_nothing_is_waited_for_in_the_loop_while_the_disk_is_at_work(handle: int) -> None:
    disk = LoopDisk(Clock(1, 1, 1, 2, 3, 3))
    loop = asyncio.get_running_loop()
    over: asyncio.Future[None] = loop.create_future()
    assert disk.sync(handle, lambda _: None)

    def done(_: OSError | None) -> None:
        loop.call_soon_threadsafe(over.set_result, None)

    assert not disk.sync(handle, done)
    assert not await waited_for(disk, handle)
    async with asyncio.timeout(5):
        await over


@pytest.mark.parametrize("lone", [True, False], ids=["in the loop", "beside it"])
async def test_what_has_no_disk_is_an_error(*, lone: bool) -> None:
    disk = LoopDisk(Clock(1, 1) if lone else Clock(-LONE_S / 2))
    reader, writer = os.pipe()
    told: asyncio.Queue[OSError | None] = asyncio.Queue()
    loop = asyncio.get_running_loop()
    try:
        if lone:
            with pytest.raises(OSError, match="Invalid argument"):
                disk.sync(writer, told.put_nowait)
            return

        def done(error: OSError | None) -> None:
            loop.call_soon_threadsafe(told.put_nowait, error)

        assert not disk.sync(writer, done)
        async with asyncio.timeout(5):
            assert "Invalid argument" in str(await told.get())
    finally:
        os.close(reader)
        os.close(writer)


async def test_a_file_that_is_closed_is_an_error() -> None:
    with pytest.raises(OSError, match="Bad file descriptor"):
        LoopDisk().sync(999_999, print)
