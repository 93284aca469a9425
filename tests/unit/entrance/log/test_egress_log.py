"""The egress log: whole, in order, and never quietly wrong."""

import asyncio
import shutil
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest

from entrance.decision import Allow, Deny
from entrance.errors import Conflict, Malformed, Unavailable
from entrance.log.egress_log import EgressLog
from entrance.log.records import Decided, Outcome, Request, Traffic
from tests.servers.log import lines_in, open_log, text_of, verified
from tests.unit.entrance.log.logs import RECORD, SESSION, opened, segment


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "egress"


@pytest.fixture
async def log(folder: Path) -> AsyncIterator[EgressLog]:
    async with opened(folder) as log:
        yield log


async def test_lines_are_numbered_and_say_who(log: EgressLog, folder: Path) -> None:
    seq = await log.decided(RECORD)
    await log.came_of_it(Outcome(seq, "ok", {"cost_usd": Decimal("0.1")}))
    opening, decided, came = lines_in(folder)
    assert (opening["type"], opening["segment"], opening["prev"]) == ("opened", 1, "0" * 64)
    assert [line["seq"] for line in (opening, decided, came)] == [1, seq, 3]
    assert (decided["run"], decided["agent"], decided["address"]) == ("r", "bot", "10.0.0.2")
    assert (decided["task"], decided["sandbox"], decided["door"]) == ("P/T", "sb-1", "entrance")
    assert (decided["decision"], decided["reason"]) == ("deny", "no")
    assert (came["type"], came["of"], came["detail"]) == ("outcome", seq, {"cost_usd": "0.1"})
    assert verified(folder).finding is None
    assert segment(folder).stat().st_mode & 0o077 == 0
    assert "secret-hash" not in text_of(folder)


async def test_what_went_over_the_wire_is_told_as_far_as_it_applies(
    log: EgressLog, folder: Path
) -> None:
    asked = Request.to("GET", "https://user:pw@a.example/x?q=1&key=secret#y")
    record = Decided("http", "a", Allow(), SESSION, request=asked, rule="docs")
    seq = await log.decided(record)
    moved = Traffic(200, bytes_out=0, bytes_in=7, request_sha256="ab", hashed_bytes=7, ms=3)
    await log.came_of_it(Outcome(seq, "ok", traffic=moved))
    decided, came = lines_in(folder)[1:]
    assert (decided["door"], decided["rule"]) == ("egress", "docs")
    assert (decided["url"], decided["host"], decided["port"]) == (
        "https://a.example/x?q=1",
        "a.example",
        443,
    )
    assert (came["run"], came["status"], came["bytes_out"], came["bytes_in"]) == ("r", 200, 0, 7)
    assert {"sni", "target", "reason", "cause"} & decided.keys() == set()
    assert {"response_sha256", "target"} & came.keys() == set()


async def test_it_goes_on_where_it_left_off(folder: Path) -> None:
    for number in (2, 3):
        async with opened(folder) as log:
            assert await log.decided(RECORD) == number
    assert verified(folder).records == 3


async def test_two_can_not_write_it_at_once(log: EgressLog, folder: Path) -> None:
    with pytest.raises(Conflict, match="another process"):
        open_log(folder)
    await log.close()
    async with opened(folder):
        pass


async def test_many_at_once_leave_one_unbroken_chain(log: EgressLog, folder: Path) -> None:
    numbers = await asyncio.gather(*(log.decided(RECORD) for _ in range(40)))
    assert sorted(numbers) == list(range(2, 42))
    assert (verified(folder).finding, verified(folder).records) == (None, 41)


async def test_what_is_no_json_fails_alone(log: EgressLog, folder: Path) -> None:
    bad = replace(RECORD, detail={"x": {1: "a name that is no text"}})
    one, two, three = (log.deciding(each) for each in (RECORD, bad, RECORD))
    with pytest.raises(Unavailable, match="can't be written"):
        await two
    assert (await one, await three) == (2, 3)
    assert verified(folder).records == 3


async def test_a_caller_that_is_cancelled_in_mid_write_breaks_nothing(
    log: EgressLog, folder: Path
) -> None:
    for _ in range(20):
        async with asyncio.TaskGroup() as tasks:
            writing = tasks.create_task(log.decided(RECORD))
            await asyncio.sleep(0)
            writing.cancel()
    last = await log.decided(RECORD)
    assert verified(folder).records == last


async def test_very_long_lines_are_found_again(folder: Path) -> None:
    async with opened(folder) as log:
        await log.decided(replace(RECORD, subject="x" * 3_000_000))
    async with opened(folder) as log:
        assert await log.decided(RECORD) == 3


async def test_what_can_not_be_written_is_unavailable_and_goes_on_when_it_can(
    log: EgressLog, folder: Path
) -> None:
    await log.decided(RECORD)
    kept = segment(folder).rename(folder / "kept")
    segment(folder).symlink_to("/dev/full")
    with pytest.raises(Unavailable, match="another file is in its place"):
        await log.decided(RECORD)
    segment(folder).unlink()
    kept.rename(segment(folder))
    assert await log.decided(RECORD) == 3
    assert verified(folder).finding is None


def exchange(path: Path) -> None:
    copy = Path(shutil.copy(path, path.with_name("copy")))
    copy.replace(path)


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda path: path.write_bytes(b""), id="emptied"),
        pytest.param(lambda path: path.write_bytes(path.read_bytes() + b"\n"), id="lengthened"),
        pytest.param(exchange, id="exchanged for a copy of itself"),
    ],
)
async def test_a_file_that_somebody_changed_is_not_written_to(
    log: EgressLog, folder: Path, change: Callable[[Path], object]
) -> None:
    await log.decided(RECORD)
    change(segment(folder))
    with pytest.raises(Unavailable, match=r"changed it|another file"):
        await log.decided(RECORD)


async def test_a_path_that_is_no_text_is_recorded_all_the_same(
    log: EgressLog, folder: Path
) -> None:
    strange = {"paths": ["a", "\udcff"]}
    await log.decided(Decided("request", "GET /\udcff", Deny("no \ud800"), SESSION, detail=strange))
    line = lines_in(folder)[-1]
    assert (line["subject"], line["reason"]) == ("GET /\\udcff", "no \\ud800")
    assert line["detail"] == {"paths": ["a", "\\udcff"]}
    assert verified(folder).finding is None


async def test_a_look_at_a_whole_log_counts_its_lines_while_it_grows(log: EgressLog) -> None:
    assert await log.check() == "0 records, an unbroken chain"
    for _ in range(3):
        await log.decided(RECORD)
    look, _ = await asyncio.gather(log.check(), log.decided(RECORD))
    assert look in {f"{count} records, an unbroken chain" for count in (4, 5)}


async def test_a_look_finds_what_was_done_to_a_log(log: EgressLog, folder: Path) -> None:
    for _ in range(3):
        await log.decided(RECORD)
    path = segment(folder)
    whole = path.read_bytes()
    path.write_bytes(whole.replace(b'"deny"', b'"dery"', 1))
    with pytest.raises(Unavailable, match="record 2: changed"):
        await log.check()
    path.write_bytes(whole[:-5])
    with pytest.raises(Unavailable, match="somebody changed it"):
        await log.check()


async def test_a_look_finds_a_log_that_can_not_be_written(log: EgressLog, folder: Path) -> None:
    segment(folder).mkdir()
    with pytest.raises(Unavailable, match="can't be relied on"):
        await log.check()


async def test_decisions_that_were_open_at_a_restart_are_known_after_it(folder: Path) -> None:
    async with opened(folder) as log:
        over, still = [await log.decided(replace(RECORD, decision=Allow())) for _ in range(2)]
        await log.came_of_it(Outcome(over, "ok"))
    async with opened(folder) as log:
        assert log.may_end(still, "entrance")
        assert not log.may_end(still, "egress")
        await log.came_of_it(Outcome(still, "ok"))
    assert lines_in(folder)[-1]["run"] == "r"


async def test_a_log_that_was_cut_back_is_not_gone_on_with(folder: Path) -> None:
    async with opened(folder) as log:
        await log.decided(RECORD)
        whole = segment(folder).read_bytes()
        await log.decided(RECORD)
    segment(folder).write_bytes(whole)
    with pytest.raises(Malformed, match="isn't what its checkpoint says"):
        open_log(folder)
