"""The trail of one run, read back from the audit file."""

from pathlib import Path

from entrance.audit import AuditFile, Decided, Outcome
from entrance.decision import Allow, Deny
from entrance.session import RunId, Session, TaskId
from entrance.trail import trail
from tests.fakes.clock import FakeClock


def session(run: str) -> Session:
    return Session(RunId(run), TaskId("D/D-1"), "D", "bot-rex", "10.0.0.2", "0" * 64)


async def test_a_trail_has_the_runs_decisions_and_their_outcomes_only(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    audit = AuditFile(path, FakeClock().now)
    mine = await audit.decided(Decided("tool_call", "a", Allow(), session("mine")))
    other = await audit.decided(Decided("tool_call", '"run":"mine"', Deny("no"), session("other")))
    await audit.came_of_it(Outcome(other, "not mine"))
    await audit.came_of_it(Outcome(mine, "mine"))
    found = trail(path, RunId("mine"))
    assert [(line["kind"], line.get("result")) for line in found] == [
        ("tool_call", None),
        ("outcome", "mine"),
    ]


def test_no_file_is_no_trail(tmp_path: Path) -> None:
    assert trail(tmp_path / "none", RunId("x")) == []
