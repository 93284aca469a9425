"""The trail of one run, read back from the log."""

from datetime import timedelta
from pathlib import Path

from entrance.decision import Allow, Deny
from entrance.log.records import Decided, Outcome
from entrance.log.segments import Rules
from entrance.log.shelf import Shelf
from entrance.log.trail import trail
from entrance.session import RunId, Session, TaskId
from tests.fakes.clock import FakeClock
from tests.servers.log import open_log


def session(run: str) -> Session:
    return Session(RunId(run), TaskId("D/D-1"), "D", "bot-rex", "10.0.0.2", "0" * 64)


async def test_a_trail_has_the_runs_decisions_and_their_outcomes_only(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    mine = await log.decided(Decided("tool_call", "a", Allow(), session("mine")))
    named = {"note": '"run":"mine"', "run": "mine"}
    other = await log.decided(
        Decided("tool_call", '"run":"mine"', Allow(), session("other"), detail=named)
    )
    await log.came_of_it(Outcome(other, "not mine"))
    await log.came_of_it(Outcome(mine, "mine"))
    await log.close()
    found = trail(Shelf(tmp_path), RunId("mine"))
    assert [(line["type"], line.get("result")) for line in found] == [
        ("decided", None),
        ("outcome", "mine"),
    ]


async def test_segments_that_were_closed_before_the_run_are_not_read(tmp_path: Path) -> None:
    clock = FakeClock()
    log = open_log(tmp_path, Rules(segment_age=timedelta(seconds=5)), now=clock.now)
    for run in ("old", "old", "new"):
        await log.decided(Decided("tool_call", "a", Deny("no"), session(run)))
        clock.advance(6)
    await log.close()
    shelf = Shelf(tmp_path)
    shelf.segment(1).write_bytes(b'{"type":"decided","run":"new"}\n')
    assert len(trail(shelf, RunId("new"), clock.now() - timedelta(seconds=6))) == 1
    assert len(trail(shelf, RunId("old"))) == 1


async def test_a_segment_that_goes_while_the_log_is_read_is_passed_over(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    await log.decided(Decided("tool_call", "a", Deny("no"), session("mine")))
    await log.close()
    Shelf(tmp_path).segment(9).symlink_to("gone")
    assert len(trail(Shelf(tmp_path), RunId("mine"))) == 1


def test_no_log_is_no_trail(tmp_path: Path) -> None:
    assert trail(Shelf(tmp_path / "none"), RunId("x")) == []
