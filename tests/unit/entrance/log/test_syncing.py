"""The egress log and the disk: what waits for it, and what becomes of what it loses."""

import asyncio
import resource
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from entrance.disk import Done
from entrance.errors import Unavailable
from entrance.log.egress_log import EgressLog
from entrance.log.records import Outcome
from entrance.log.segments import Rules
from entrance.log.shelf import Shelf
from tests.fakes.disk import FakeDisk
from tests.servers.log import lines_in, open_log, verified
from tests.unit.entrance.log.logs import ALLOWED, RECORD, opened, segment
from tests.waiting import until


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "egress"


@pytest.fixture
async def log(folder: Path) -> AsyncIterator[EgressLog]:
    async with opened(folder) as log:
        yield log


@pytest.fixture
async def slow(folder: Path) -> AsyncIterator[tuple[EgressLog, FakeDisk]]:
    disk = FakeDisk()
    log = open_log(folder, disk=disk)
    yield log, disk
    await log.close()


@contextmanager
def no_file_larger_than(size_bytes: int) -> Iterator[None]:
    """As on a disk that is full."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size_bytes, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


async def test_those_that_come_together_get_to_the_disk_together(
    slow: tuple[EgressLog, FakeDisk],
) -> None:
    log, disk = slow
    first = log.deciding(RECORD)
    others = [log.deciding(RECORD) for _ in range(40)]
    await asyncio.sleep(0)
    assert not first.done(), "it is not on the disk yet"
    disk.end()
    assert [await each for each in (first, *others)] == list(range(2, 43))
    assert disk.syncs == 2


async def test_what_nobody_waits_for_gets_to_the_disk_with_the_next_decision(
    slow: tuple[EgressLog, FakeDisk], folder: Path
) -> None:
    log, disk = slow
    disk.prompt = True
    seq = await log.decided(ALLOWED)
    await log.ended(Outcome(seq, "ok"))
    assert [line["type"] for line in lines_in(folder)] == ["opened", "decided", "outcome"]
    assert (disk.syncs, log.newest.last_seq) == (1, seq)
    following = await log.decided(RECORD)
    assert (disk.syncs, log.newest.last_seq) == (2, following)


async def test_what_nobody_waits_for_gets_to_the_disk_by_itself_in_a_moment(
    slow: tuple[EgressLog, FakeDisk],
) -> None:
    log, disk = slow
    disk.prompt = True
    seq = await log.decided(ALLOWED)
    await log.ended(Outcome(seq, "ok"))
    await until(lambda: log.newest.last_seq == seq + 1)
    assert disk.syncs == 2


async def test_the_end_of_the_log_waits_for_what_nobody_waits_for(folder: Path) -> None:
    async with opened(folder) as log:
        await log.ended(Outcome(await log.decided(ALLOWED), "ok"))
    assert log.newest.last_seq == 3
    assert (verified(folder).finding, verified(folder).records) == (None, 3)


async def test_what_nobody_waits_for_is_told_of_when_it_can_not_be_written(
    log: EgressLog, folder: Path
) -> None:
    seq = await log.decided(ALLOWED)
    with segment(folder).open("ab") as file:
        file.write(b"x")
    with pytest.raises(Unavailable, match="somebody changed it"):
        await log.ended(Outcome(seq, "ok"))


async def test_what_nobody_waits_for_and_the_disk_loses_is_in_the_log_of_the_process(
    slow: tuple[EgressLog, FakeDisk], folder: Path
) -> None:
    log, disk = slow
    disk.prompt = True
    seq = await log.decided(ALLOWED)
    disk.prompt = False
    with capture_logs() as logged:
        await log.ended(Outcome(seq, "ok"))
        await until(lambda: bool(disk.begun))
        disk.end(OSError("the disk is gone"))
        await until(lambda: bool(logged))
    assert (logged[0]["event"], logged[0]["of"]) == ("outcome_lost", seq)
    assert [line["type"] for line in lines_in(folder)] == ["opened", "decided"]


async def test_a_segment_that_is_full_of_what_nobody_waits_for_is_sealed_all_the_same(
    folder: Path,
) -> None:
    async with opened(folder, Rules(segment_bytes=1)) as log:
        seq = await log.decided(ALLOWED)
        await log.ended(Outcome(seq, "ok"))
        await log.decided(RECORD)
    assert Shelf(folder).segments() == [1, 2, 3]
    assert (verified(folder).finding, verified(folder).records) == (None, 6)


async def test_the_loop_waits_itself_where_nothing_else_goes_on(folder: Path) -> None:
    disk = FakeDisk()
    disk.hurried = True
    log = open_log(folder, disk=disk)
    first = await log.decided(ALLOWED)
    assert disk.hurries == 1
    deciding = log.deciding(RECORD)
    await asyncio.sleep(0)
    disk.end()
    assert await log.kept(deciding) == first + 1
    assert disk.hurries == 1, "it is there"
    waiting = asyncio.ensure_future(log.decided(RECORD))
    await until(lambda: disk.syncs == 3)
    assert disk.hurries == 1, "a call goes on"
    disk.end()
    await waiting
    await log.ended(Outcome(first, "ok"))
    await log.decided(RECORD)
    assert disk.hurries == 2
    disk.hurried, disk.prompt = False, True
    await log.close()


async def test_those_who_came_together_before_get_to_the_disk_with_all_of_their_turn(
    slow: tuple[EgressLog, FakeDisk],
) -> None:
    log, disk = slow
    alone, *others = [log.deciding(RECORD) for _ in range(3)]
    assert disk.syncs == 1, "it begins with the first"
    disk.end()
    await asyncio.gather(alone, *others)
    assert disk.syncs == 2
    disk.prompt = False
    again = [log.deciding(RECORD) for _ in range(3)]
    assert disk.syncs == 2, "not before the turn of the loop is over"
    await asyncio.sleep(0)
    disk.end()
    await asyncio.gather(*again)
    assert disk.syncs == 3
    await log.decided(RECORD)
    alone = log.deciding(RECORD)
    assert disk.syncs == 5, "at once again"
    await alone


async def test_one_of_those_who_wait_may_leave(slow: tuple[EgressLog, FakeDisk]) -> None:
    log, disk = slow
    number = log.deciding(RECORD)
    leaving, staying = (asyncio.ensure_future(log.kept(number)) for _ in range(2))
    await asyncio.sleep(0)
    leaving.cancel()
    await asyncio.sleep(0)
    disk.end()
    assert await staying == 2


async def test_what_the_disk_loses_is_told_to_all_and_is_not_in_the_log(
    slow: tuple[EgressLog, FakeDisk], folder: Path
) -> None:
    log, disk = slow
    disk.prompt = True
    assert await log.decided(RECORD) == 2
    disk.prompt = False
    lost = [log.deciding(RECORD) for _ in range(3)]
    disk.end(OSError("the disk is gone"))
    for each in lost:
        with pytest.raises(Unavailable, match="the disk is gone"):
            await each
    assert verified(folder).records == 2
    assert await log.decided(RECORD) == 3
    assert (verified(folder).finding, verified(folder).records) == (None, 3)


async def test_what_came_while_the_disk_was_at_work_is_in_the_file_before_who_ends_goes_on(
    slow: tuple[EgressLog, FakeDisk], folder: Path
) -> None:
    log, disk = slow
    first = log.deciding(ALLOWED)
    others = [log.deciding(RECORD) for _ in range(2)]
    await log.ended(Outcome(2, "ok"))
    assert [line["seq"] for line in lines_in(folder)] == [1, 2, 3, 4, 5]
    assert not any(number.done() for number in (first, *others))
    disk.end()
    assert [await number for number in (first, *others)] == [2, 3, 4]


async def test_lines_that_find_no_room_together_are_all_told_and_none_is_there_by_half(
    slow: tuple[EgressLog, FakeDisk], folder: Path
) -> None:
    log, disk = slow
    first = log.deciding(ALLOWED)
    await log.ended(Outcome(2, "ok"))
    size = segment(folder).stat().st_size
    lost = [log.deciding(RECORD) for _ in range(3)]
    with no_file_larger_than(size + 500):  # one of them would fit, and a piece of the next
        disk.end()
        assert await first == 2
        for number in lost:
            with pytest.raises(Unavailable, match="File too large"):
                await number
    assert segment(folder).stat().st_size == size
    assert await log.decided(RECORD) == 4
    assert (verified(folder).finding, verified(folder).records) == (None, 4)


async def test_lines_that_come_together_are_not_written_to_a_file_that_somebody_changed(
    slow: tuple[EgressLog, FakeDisk], folder: Path
) -> None:
    log, disk = slow
    first = log.deciding(RECORD)
    lost = [log.deciding(RECORD) for _ in range(3)]
    ours = segment(folder).read_bytes()
    segment(folder).write_bytes(ours + b"x")
    disk.end()
    assert await first == 2
    for number in lost:
        with pytest.raises(Unavailable, match="somebody changed it"):
            await number
    assert segment(folder).read_bytes() == ours + b"x"
    segment(folder).write_bytes(ours)
    assert await log.decided(RECORD) == 3
    assert (verified(folder).finding, verified(folder).records) == (None, 3)


async def test_a_segment_whose_first_lines_the_disk_loses_is_begun_again(
    slow: tuple[EgressLog, FakeDisk], folder: Path
) -> None:
    log, disk = slow
    lost = log.deciding(RECORD)
    disk.end(OSError("the disk is gone"))
    with pytest.raises(Unavailable, match="the disk is gone"):
        await lost
    assert await log.decided(RECORD) == 2
    assert [line["type"] for line in lines_in(folder)] == ["opened", "decided"]


async def test_a_disk_that_takes_no_more_is_told_like_one_that_fails(folder: Path) -> None:
    class Refusing(FakeDisk):
        def sync(self, handle: int, done: Done) -> None:
            del handle, done
            raise OSError("no more work")

    log = open_log(folder, disk=Refusing())
    with pytest.raises(Unavailable, match="no more work"):
        await log.decided(RECORD)
    assert segment(folder).read_bytes() == b""
    await log.close()


async def test_a_full_segment_is_sealed_once_all_of_it_is_on_the_disk(folder: Path) -> None:
    disk = FakeDisk()
    log = open_log(folder, Rules(segment_bytes=1), disk=disk)
    numbers = [log.deciding(RECORD) for _ in range(3)]
    await asyncio.sleep(0)
    assert Shelf(folder).segments() == [1]
    disk.end()
    assert [await number for number in numbers] == [2, 4, 6]
    await log.close()
    assert Shelf(folder).segments() == [1, 2, 3]
    assert (verified(folder).finding, verified(folder).records) == (None, 6)


async def test_a_full_segment_that_somebody_changed_gets_no_seal(folder: Path) -> None:
    log = open_log(folder, Rules(segment_bytes=1))
    await log.decided(RECORD)
    with segment(folder).open("ab") as file:
        file.write(b"x")
    with pytest.raises(Unavailable, match="somebody changed it"):
        await log.decided(RECORD)
    assert not Shelf(folder).seal(1).exists()
    await log.close()


async def test_a_torn_tail_is_told_of_again_when_the_disk_loses_the_word_of_it(
    folder: Path,
) -> None:
    async with opened(folder) as log:
        await log.decided(RECORD)
    with segment(folder).open("ab") as file:
        file.write(b'{"seq":3,')
    disk = FakeDisk()
    log = open_log(folder, disk=disk)
    lost = log.deciding(RECORD)
    disk.end(OSError("the disk is gone"))
    with pytest.raises(Unavailable):
        await lost
    for _ in range(2):
        await log.decided(RECORD)
    await log.close()
    types = [line["type"] for line in lines_in(folder)]
    assert types == ["opened", "decided", "torn", "decided", "decided"]
    assert (verified(folder).finding, verified(folder).torn) == (None, 1)
