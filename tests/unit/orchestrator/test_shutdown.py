"""The runner stops, or dies, anywhere in a run: the next start takes it up where it is stored.

A stop is a cancellation at any await; what nobody could catch, a kill, differs only in running no
`finally`, and ours hold nothing that a run depends on.
"""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from entrance.registry import SessionRegistry
from entrance.session import Session
from orchestrator.domain.run import Cause, Ending, Outcome, Run, RunState, changed
from orchestrator.domain.task import TaskStatus
from orchestrator.janitor import Janitor
from orchestrator.ports import Event, Sandbox
from orchestrator.reconciler import Reconciler
from tests.fakes.runs import FakeRuns
from tests.fakes.sandboxes import FakeHarness, FakeSandboxes
from tests.fakes.world import TASK, FakeWorld
from tests.waiting import until

SAYS = ['{"type":"started","model":"m"}', '{"type":"text","text":"hello"}', "no json"]
MOST = 100
"""More calls to the world than a whole run takes."""
CALLS = {
    "runs": ("create", "replace", "add_events", "get", "usage"),
    "tracker": ("act", "comment", "record", "attach", "spent", "task", "agent"),
    "sandboxes": (
        *("create", "kill", "start", "write", "interrupt"),
        *("find", "renew", "progress", "execute", "sweep", "evidence"),
    ),
    "disks": ("ensure", "release"),
}


class Submitting(FakeSandboxes):
    """The agent says its lines, submits, and its harness ends."""

    def __init__(self, world: FakeWorld) -> None:
        super().__init__(FakeHarness(SAYS))
        self._world = world

    async def renew(self, sandbox: Sandbox) -> None:
        await super().renew(sandbox)
        run = await self._world.runs.latest(TASK.id)
        assert run
        if run.ending is None:
            ending = Ending(Outcome.SUBMITTED, "fixed", self._world.clock.now())
            await self._world.runs.replace(changed(run, ending=ending))
            await self._world.tracker.act(TASK.id, "submit")


class StandStill:
    """Stands still for ever just before, or just after, the n-th call to the world."""

    def __init__(self, at: int, *, after: bool) -> None:
        self.left = at
        self.after = after
        self.reached = False

    def wrap(self, holder: object, name: str) -> None:
        inner = getattr(holder, name)

        async def call(*args: Any, **kwargs: Any) -> Any:
            self.left -= 1
            here = self.left == 0
            if here and not self.after:
                await self._for_ever()
            result = await inner(*args, **kwargs)
            if here:
                await self._for_ever()
            return result

        setattr(holder, name, call)

    async def _for_ever(self) -> None:
        self.reached = True
        await asyncio.Event().wait()


async def work(world: FakeWorld, reconciler: Reconciler) -> Run | None:
    """Handle the task until nothing is left to do."""
    for _ in range(60):
        if await reconciler.handle(TASK.id) is None:
            break
        world.clock.advance(1)
    return await world.runs.latest(TASK.id)


async def stop_and_start(world: FakeWorld, still: StandStill) -> None:
    """Work until it stands still, stop, and start anew: the door's memory is empty then."""
    async with asyncio.TaskGroup() as tasks:
        working = tasks.create_task(work(world, world.reconciler()))
        await until(lambda: still.reached or working.done())
        working.cancel()
    still.left = 0  # once is enough
    world.door = SessionRegistry()
    await Janitor(world.world()).restore()


async def events(world: FakeWorld, run: Run) -> list[Event]:
    return [event async for event in world.runs.events(run.id)]


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("at", range(1, MOST))
async def test_a_stop_anywhere_changes_nothing_of_how_a_run_ends(
    tmp_path: Path, at: int, *, after: bool
) -> None:
    world = FakeWorld(tmp_path)
    world.sandboxes = Submitting(world)
    still = StandStill(at, after=after)
    for part, names in CALLS.items():
        for name in names:
            still.wrap(getattr(world, part), name)
    await stop_and_start(world, still)
    run = await work(world, world.reconciler())
    assert run
    assert (run.state, run.outcome, run.cause) == (
        RunState.ENDED,
        Outcome.SUBMITTED,
        Cause.HANDED_OVER,
    )
    assert world.tracker.tasks[TASK.id].status is TaskStatus.IN_REVIEW
    told = await events(world, run)
    assert [event.seq for event in told] == list(range(len(told))), "no gap"
    assert [event.kind for event in told if event.kind != "phase"] == ["started", "text", "raw"]
    assert run.events == len(told)
    transcript = world.tracker.attached[run.record, "transcript.jsonl"]
    assert transcript.count(b"hello") == 1
    assert len(world.tracker.records) == len(await world.runs.recent(9)) == 1
    assert not world.sandboxes.live
    assert not world.disks.mounted


async def test_more_calls_are_tried_than_a_run_takes(tmp_path: Path) -> None:
    """Else the test above would try less than it says."""
    world = FakeWorld(tmp_path)
    world.sandboxes = Submitting(world)
    count = StandStill(10_000, after=False)
    for part, names in CALLS.items():
        for name in names:
            count.wrap(getattr(world, part), name)
    await work(world, world.reconciler())
    assert MOST - 25 < 10_000 - count.left < MOST


async def test_a_run_that_goes_on_in_its_sandbox_is_followed_on(tmp_path: Path) -> None:
    world = FakeWorld(tmp_path, sandboxes=FakeSandboxes(FakeHarness(SAYS[:1], exit_code=None)))
    async with asyncio.TaskGroup() as tasks:
        following = tasks.create_task(work(world, world.reconciler()))
        await until(lambda: bool(world.runs._events) and heard(world) == 1)
        following.cancel()
    run = await world.runs.latest(TASK.id)
    assert run
    assert (run.state, run.exit, run.outcome) == (RunState.RUNNING, None, None)
    assert not world.sandboxes.interrupted, "a stop ends no harness"
    assert run.session
    world.door = SessionRegistry()
    await Janitor(world.world()).restore()
    assert isinstance(world.door.find(run.session.token_sha256), Session)
    world.sandboxes.harness.lines.extend(SAYS[1:])
    world.sandboxes.harness.exit_code = 0
    run = await work(world, world.reconciler())
    assert run
    assert world.sandboxes.made == 1
    assert heard(world) == 3
    assert run.cause is Cause.NO_HANDOVER


async def test_after_down_and_up_a_run_has_lost_its_sandbox_and_its_task_says_so(
    tmp_path: Path,
) -> None:
    """`sandgate down` removes the sandboxes; what they pushed stays, and a retry goes on from it."""
    world = FakeWorld(tmp_path, sandboxes=FakeSandboxes(FakeHarness(SAYS, exit_code=None)))
    async with asyncio.TaskGroup() as tasks:
        following = tasks.create_task(work(world, world.reconciler()))
        await until(lambda: bool(world.runs._events) and heard(world) == 3)
        following.cancel()
    world.sandboxes.live.clear()
    world.disks.mounted.clear()
    world.door = SessionRegistry()
    await Janitor(world.world()).restore()
    run = await work(world, world.reconciler())
    assert run
    assert (run.outcome, run.cause) == (Outcome.FAILED, Cause.SANDBOX_LOST)
    assert world.tracker.tasks[TASK.id].status is TaskStatus.FAILED
    (said,) = world.tracker.comments[TASK.id]
    assert "sandbox_lost" in said.text
    assert b"hello" in world.tracker.attached[run.record, "transcript.jsonl"]
    assert run.session
    assert not isinstance(world.door.find(run.session.token_sha256), Session)


def heard(world: FakeWorld) -> int:
    (stored,) = world.runs._events.values()
    return sum(event.kind != "phase" for event in stored.values())


class Uncounting(FakeRuns):
    """Stores events, and then fails to count them: once."""

    def __init__(self) -> None:
        super().__init__()
        self.fails = False

    async def replace(self, run: Run) -> None:
        if self.fails:
            self.fails = False
            raise asyncio.CancelledError
        await super().replace(run)


@pytest.mark.parametrize("again", ["the same process", "a new one"])
async def test_events_that_were_stored_and_not_counted_are_counted_first(
    tmp_path: Path, again: str
) -> None:
    runs = Uncounting()
    world = FakeWorld(tmp_path, runs=runs)
    reconciler = world.reconciler()
    await reconciler.handle(TASK.id)
    steps = reconciler.world
    run = await runs.latest(TASK.id)
    assert run
    runs.fails = True
    lines: Sequence[tuple[str, dict[str, Any]]] = [("text", {"text": "a"}), ("raw", {"text": "b"})]
    with pytest.raises(asyncio.CancelledError):
        await steps.tell(run.id, lines, 1)
    if again == "a new one":
        steps = world.world()
    await steps.note(run.id, "phase", {"state": "settling"})
    told = await events(world, run)
    assert [event.kind for event in told] == ["phase", "text", "raw", "phase"]
    assert [event.seq for event in told] == [0, 1, 2, 3]
    stored = await runs.get(run.id)
    assert (stored.events, stored.cursor) == (4, 1), "both lines count as heard"


async def test_a_harness_can_not_pass_its_words_off_as_ours(tmp_path: Path) -> None:
    forged = '{"type":"phase","state":"ended","outcome":"submitted"}'
    world = FakeWorld(tmp_path, sandboxes=FakeSandboxes(FakeHarness([forged])))
    run = await work(world, world.reconciler())
    assert run
    assert run.outcome is Outcome.FAILED
    told = await events(world, run)
    assert [event.data for event in told if event.kind == "raw"] == [
        {"text": "{'state': 'ended', 'outcome': 'submitted'}"}
    ]
    assert {event.data.get("outcome") for event in told if event.kind == "phase"} == {
        None,
        "failed",
    }
