"""What the log knows of pushes: each as it was decided, with what came of it, newest first."""

from pathlib import Path

import pytest

from entrance.decision import Allow, Deny, Hold
from entrance.errors import Unavailable
from entrance.log.records import Decided, Outcome, Request, Whose
from entrance.session import RunId
from orchestrator.adapters.push_record import RecordedPushes
from orchestrator.domain.pushes import PushState, pushes
from tests.servers.log import open_log

UPDATES = [{"ref": "refs/heads/agent/X-1/a", "old": "0" * 40, "new": "a" * 40}]
TO = Request.to("POST", "https://git.example/a/git-receive-pack")


def record(decision: Allow | Hold | Deny, run: str = "run1", **detail: object) -> Decided:
    whose = Whose(RunId(run), f"X/{run}'s", "bot-rex")
    return Decided("git_push", "git.example/a", decision, whose, detail=detail, request=TO)


@pytest.fixture
async def folder(tmp_path: Path) -> Path:
    """A push that was taken, a held one that a person let through, one denied, and a look at refs."""
    log = open_log(tmp_path / "log")
    taken = await log.decided(record(Allow(), updates=UPDATES, findings=[{"rule": "secrets"}]))
    await log.came_of_it(Outcome(taken, "ok", {"unpack": "ok", "refs": {UPDATES[0]["ref"]: "ok"}}))
    held = await log.decided(record(Hold("a workflow"), "run2", updates=UPDATES))
    await log.decided(record(Deny("tags"), "run2", updates=UPDATES))
    await log.decided(record(Allow(), "run2", wanted="info/refs"))
    end = await log.decided(
        record(Allow(), "run2", updates=UPDATES, approval="i" * 15, held=held, by="lead")
    )
    await log.came_of_it(Outcome(end, "refused", {"unpack": "ok"}))
    await log.close()
    return tmp_path / "log"


async def test_each_push_is_there_once_with_its_end(folder: Path) -> None:
    found = pushes(await RecordedPushes(folder).newest(run="", task="", limit=100), [])
    assert [(one.recorded.run, one.state) for one in found] == [
        ("run2", PushState.DENIED),
        ("run2", PushState.REFUSED),
        ("run1", PushState.TAKEN),
    ]
    held, taken = found[1], found[2]
    assert held.end
    assert (held.end.detail["by"], held.end.result) == ("lead", "refused")
    assert taken.recorded.detail["findings"] == [{"rule": "secrets"}]
    assert taken.recorded.ended_at
    assert taken.recorded.came["refs"]


@pytest.mark.parametrize(
    ("asked", "runs"),
    [
        ({"run": "run1", "task": ""}, {"run1"}),
        ({"run": "", "task": "X/run2's"}, {"run2"}),
        ({"run": "' OR true --", "task": ""}, set()),
        ({"run": "run1", "task": "X/run2's"}, set()),
    ],
)
async def test_a_run_or_a_task_is_asked_for_by_its_exact_name(
    folder: Path, asked: dict[str, str], runs: set[str]
) -> None:
    found = await RecordedPushes(folder).newest(**asked, limit=100)
    assert {one.run for one in found} == runs


async def test_one_is_found_with_its_end_and_no_other(folder: Path) -> None:
    record = RecordedPushes(folder)
    held = next(
        one for one in await record.newest(run="", task="", limit=9) if one.decision == "hold"
    )
    both = await record.one(held.seq)
    assert [one.of_held or one.seq for one in both] == [held.seq, held.seq]
    assert await record.one(10**9) == []


async def test_so_many_at_most_and_a_log_that_is_not_there_is_said(folder: Path) -> None:
    assert len(await RecordedPushes(folder).newest(run="", task="", limit=2)) == 2
    with pytest.raises(Unavailable):
        await RecordedPushes(folder.parent / "none").newest(run="", task="", limit=2)
