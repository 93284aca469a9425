"""A crash at any change of the world is repaired by the next look."""

from pathlib import Path
from typing import Any

import pytest

from orchestrator.domain.run import Outcome, RunState
from orchestrator.domain.task import TaskStatus
from tests.fakes.githosts import FakeGitHosts
from tests.fakes.world import TASK, FakeWorld
from tests.unit.orchestrator.domain.test_submitted import decided, outcome
from tests.unit.orchestrator.reconciler.driving import Crash, SubmittingSandboxes, settle_down


class Crashing:
    """Dies once, just before or just after the n-th change of the world."""

    def __init__(self, at: int, *, after: bool) -> None:
        self.left = at
        self.after = after

    def wrap(self, holder: object, name: str) -> None:
        inner = getattr(holder, name)

        async def call(*args: Any, **kwargs: Any) -> Any:
            self.left -= 1
            if self.left == 0 and not self.after:
                raise Crash
            result = await inner(*args, **kwargs)
            if self.left == 0 and self.after:
                self.left = -1
                raise Crash
            return result

        setattr(holder, name, call)


CHANGES = {
    "runs": ("create", "replace", "add_events"),
    "tracker": ("act", "comment", "record", "attach", "spent"),
    "sandboxes": ("create", "kill", "start", "write", "interrupt"),
    "disks": ("ensure", "release"),
    "githosts": ("propose", "forget"),
}


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("at", range(1, 49))
async def test_a_crash_at_any_change_is_repaired_by_the_next_look(
    tmp_path: Path, at: int, *, after: bool
) -> None:
    """CASE-93: whatever happens, a run ends with an outcome."""
    world = FakeWorld(tmp_path, githosts=FakeGitHosts())
    world.sandboxes = SubmittingSandboxes(world)
    world.trail = [{**decided(1), "subject": "git.example:9000/team/thing.git"}, outcome(1)]
    crash = Crashing(at, after=after)
    for part, names in CHANGES.items():
        for name in names:
            crash.wrap(getattr(world, part), name)
    run = await settle_down(world, most=60)
    assert run
    assert run.state is RunState.ENDED
    assert run.outcome in {Outcome.SUBMITTED, Outcome.FAILED}
    assert len(await world.runs.recent(10)) == 1, "nothing is doubled"
    assert len(world.tracker.records) == 1
    assert run.record in world.tracker.records
    shown = {Outcome.SUBMITTED: TaskStatus.IN_REVIEW, Outcome.FAILED: TaskStatus.FAILED}
    assert world.tracker.tasks[TASK.id].status is shown[run.outcome]
    titles = [f"Run {run.id} {run.outcome}"]
    if run.outcome is Outcome.SUBMITTED:
        titles.append(f"Pull request of run {run.id}")
        assert run.pull_request
        assert run.pull_request.url
    assert [one.title for one in world.tracker.comments[TASK.id]] == titles
    assert len(world.githosts.open) == len(titles) - 1, "one pull request, whenever it was"
    assert not world.sandboxes.live, "no sandbox is left over"
    assert not world.disks.mounted
    seqs = [event.seq async for event in world.runs.events(run.id)]
    assert len(seqs) == len(set(seqs))
