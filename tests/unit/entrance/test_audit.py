"""The audit file: whole, in order, and never quietly wrong."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import orjson
import pytest

from entrance.audit import AuditFile, Decided, Outcome
from entrance.chain import verify
from entrance.decision import Allow, Deny
from entrance.disk import Disk, Done
from entrance.errors import Malformed, Unavailable
from entrance.session import RunId, Session, TaskId
from tests.fakes.disk import FakeDisk

SESSION = Session(RunId("r"), TaskId("P/T"), "P", "bot", "10.0.0.2", "secret-hash")
RECORD = Decided("request", "GET /x", Deny("no"), SESSION)


def opened(path: Path, disk: Disk | None = None) -> AuditFile:
    return AuditFile(path, lambda: datetime(2026, 1, 5, tzinfo=UTC), disk)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "audit" / "audit.jsonl"


async def test_lines_are_numbered_chained_and_say_who(path: Path) -> None:
    audit = opened(path)
    seq = await audit.decided(RECORD)
    await audit.came_of_it(Outcome(seq, "ok", {"cost_usd": Decimal("0.1")}))
    first, second = [orjson.loads(line) for line in path.read_bytes().splitlines()]
    assert (first["run"], first["agent"], first["address"]) == ("r", "bot", "10.0.0.2")
    assert (first["decision"], first["reason"]) == ("deny", "no")
    assert (second["of"], second["prev"]) == (seq, first["hash"])
    assert verify(path) == 2
    assert path.stat().st_mode & 0o077 == 0
    assert "secret-hash" not in path.read_text()


async def test_it_goes_on_where_it_left_off(path: Path) -> None:
    await opened(path).decided(RECORD)
    assert await opened(path).decided(RECORD) == 2
    assert verify(path) == 2


async def test_many_at_once_leave_one_unbroken_chain(path: Path) -> None:
    audit = opened(path)
    numbers = await asyncio.gather(*(audit.decided(RECORD) for _ in range(40)))
    assert sorted(numbers) == list(range(1, 41))
    assert verify(path) == 40


async def test_those_that_come_together_get_to_the_disk_together(path: Path) -> None:
    disk = FakeDisk()
    audit = opened(path, disk)
    first = audit.deciding(RECORD)
    others = [audit.deciding(RECORD) for _ in range(40)]
    await asyncio.sleep(0)
    assert not first.done(), "it is not on the disk yet"
    disk.end()
    assert [await each for each in (first, *others)] == list(range(1, 42))
    assert disk.syncs == 2


async def test_what_the_disk_loses_is_told_to_all_and_is_not_in_the_file(path: Path) -> None:
    disk = FakeDisk()
    audit = opened(path, disk)
    disk.prompt = True
    assert await audit.decided(RECORD) == 1
    disk.prompt = False
    lost = [audit.deciding(RECORD) for _ in range(3)]
    disk.end(OSError("the disk is gone"))
    for each in lost:
        with pytest.raises(Unavailable, match="the disk is gone"):
            await each
    assert verify(path) == 1
    assert await audit.decided(RECORD) == 2
    assert verify(path) == 2


async def test_a_disk_that_takes_no_more_is_told_like_one_that_fails(path: Path) -> None:
    class Refusing:
        def sync(self, handle: int, done: Done) -> None:
            raise OSError("no more work")

    with pytest.raises(Unavailable, match="no more work"):
        await opened(path, Refusing()).decided(RECORD)
    assert path.read_bytes() == b""


async def test_another_file_in_its_place_is_not_written_to(path: Path) -> None:
    audit = opened(path)
    await audit.decided(RECORD)
    whole = path.read_bytes()
    path.rename(path.with_suffix(".old"))
    path.write_bytes(whole)
    with pytest.raises(Unavailable, match="another file is in its place"):
        await audit.decided(RECORD)
    assert path.read_bytes() == whole


async def test_what_is_no_json_fails_alone(path: Path) -> None:
    audit = opened(path)
    bad = replace(RECORD, detail={"x": "\ud800"})
    one, two, three = (audit.deciding(each) for each in (RECORD, bad, RECORD))
    with pytest.raises(Unavailable, match="can't be written"):
        await two
    assert (await one, await three) == (1, 2)
    assert verify(path) == 2


async def test_a_caller_that_is_cancelled_in_mid_write_breaks_nothing(path: Path) -> None:
    audit = opened(path)
    for _ in range(20):
        async with asyncio.TaskGroup() as tasks:
            writing = tasks.create_task(audit.decided(RECORD))
            await asyncio.sleep(0)
            writing.cancel()
    last = await audit.decided(RECORD)
    assert verify(path) >= last


async def test_a_torn_last_line_is_set_aside_at_opening(path: Path) -> None:
    await opened(path).decided(RECORD)
    with path.open("ab") as file:
        file.write(b'{"seq":2,"at":"20')
    assert await opened(path).decided(RECORD) == 2
    assert verify(path) == 2
    assert path.with_suffix(".torn").read_bytes() == b'{"seq":2,"at":"20\n'


async def test_a_lone_torn_line_is_no_line(path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(b'{"seq":1')
    assert await opened(path).decided(RECORD) == 1


async def test_very_long_lines_are_found_again(path: Path) -> None:
    long = Decided("request", "x" * 3_000_000, Allow(), SESSION)
    await opened(path).decided(long)
    assert await opened(path).decided(RECORD) == 2


async def test_what_can_not_be_written_is_unavailable_and_goes_on_when_it_can(path: Path) -> None:
    audit = opened(path)
    await audit.decided(RECORD)
    kept = path.rename(path.with_suffix(".kept"))
    path.symlink_to("/dev/full")
    with pytest.raises(Unavailable, match="can't be written"):
        await audit.decided(RECORD)
    path.unlink()
    kept.rename(path)
    assert await audit.decided(RECORD) == 2
    assert verify(path) == 2


async def test_a_file_that_somebody_changed_is_not_written_to(path: Path) -> None:
    audit = opened(path)
    await audit.decided(RECORD)
    path.write_bytes(b"")
    with pytest.raises(Unavailable, match="changed"):
        await audit.decided(RECORD)


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda lines: lines[:1] + lines[2:], id="a line taken out"),
        pytest.param(lambda lines: [lines[1], lines[0], lines[2]], id="lines swapped"),
        pytest.param(
            lambda lines: [lines[0].replace(b'"deny"', b'"allow"'), *lines[1:]], id="a line edited"
        ),
        pytest.param(lambda lines: [b"not json", *lines[1:]], id="a line overwritten"),
        pytest.param(lambda lines: [b"{}", *lines[1:]], id="a line without its fields"),
    ],
)
async def test_tampering_is_found(path: Path, change: object) -> None:
    audit = opened(path)
    for _ in range(3):
        await audit.decided(RECORD)
    assert callable(change)
    path.write_bytes(b"\n".join(change(path.read_bytes().splitlines())) + b"\n")
    with pytest.raises(ValueError, match="breaks the chain"):
        verify(path)


async def test_a_last_line_that_can_not_be_read_keeps_the_door_shut(path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(b"rubbish\n")
    with pytest.raises(Malformed, match="last line"):
        opened(path)


async def test_a_path_that_is_no_text_is_recorded_all_the_same(path: Path) -> None:
    await opened(path).decided(Decided("request", "GET /\udcff", Deny("no \ud800"), SESSION))
    assert verify(path) == 1


async def test_a_look_at_a_whole_log_counts_its_lines_while_it_grows(path: Path) -> None:
    audit = opened(path)
    assert await audit.check() == 0
    for _ in range(3):
        await audit.decided(RECORD)
    looks, _ = await asyncio.gather(audit.check(), audit.decided(RECORD))
    assert looks in {3, 4}


async def test_a_look_finds_what_was_done_to_a_log(path: Path) -> None:
    audit = opened(path)
    for _ in range(3):
        await audit.decided(RECORD)
    whole = path.read_bytes()
    path.write_bytes(whole.replace(b'"deny"', b'"dery"', 1))
    with pytest.raises(Unavailable, match="line 1 breaks the chain"):
        await audit.check()
    path.write_bytes(whole[:-5])
    with pytest.raises(Unavailable, match="somebody changed it"):
        await audit.check()


async def test_a_look_finds_a_log_that_can_not_be_written(path: Path) -> None:
    audit = opened(path)
    path.mkdir()
    with pytest.raises(Unavailable, match="can't be relied on"):
        await audit.check()
