"""Disks of tasks that are over go after their time, and no others."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from entrance.errors import Forbidden, Unavailable
from entrance.session import RunId, TaskId
from orchestrator.disks import DiskWatch, Retention
from orchestrator.domain.run import Cause, Exit, RunState
from orchestrator.domain.task import Task, TaskStatus
from tests.fakes.disks import FakeKeptDisks
from tests.fakes.run import a_run
from tests.fakes.tracker import FakeTracker
from tests.fakes.world import TASK, FakeWorld

DAY_S = 86400.0


@pytest.fixture
def world(tmp_path: Path) -> FakeWorld:
    return FakeWorld(tmp_path)


@pytest.fixture
def disks() -> FakeKeptDisks:
    disks = FakeKeptDisks()
    disks.add(TASK.id)
    return disks


def retention(world: FakeWorld, disks: FakeKeptDisks, days: float = 7) -> Retention:
    frozen = world.world().freezes.of_task
    keep = timedelta(days=days)
    return Retention(
        disks, world.tracker, world.runs, world.clock, keep, lambda task: bool(frozen(task))
    )


def becomes(world: FakeWorld, status: TaskStatus) -> None:
    world.tracker.tasks[TASK.id] = replace(TASK, status=status)


async def test_a_disk_goes_a_week_after_its_task_was_seen_to_be_done(
    world: FakeWorld, disks: FakeKeptDisks
) -> None:
    keeper = retention(world, disks)
    becomes(world, TaskStatus.DONE)
    world.clock.advance(100 * DAY_S)
    await keeper.sweep()
    assert disks.there[TASK.id].over_since == world.clock.now()
    world.clock.advance(7 * DAY_S - 1)
    await keeper.sweep()
    assert disks.there
    world.clock.advance(1)
    with capture_logs() as logs:
        await keeper.sweep()
        await keeper.sweep()
    assert not disks.there
    assert logs == [{"event": "disk_removed", "log_level": "info", "task": TASK.id, "bytes": 4096}]


async def test_a_task_that_is_reopened_has_all_its_time_again(
    world: FakeWorld, disks: FakeKeptDisks
) -> None:
    keeper = retention(world, disks)
    for status in (TaskStatus.DONE, TaskStatus.OPEN, TaskStatus.DONE):
        becomes(world, status)
        await keeper.sweep()
        world.clock.advance(6 * DAY_S)
    assert disks.there


async def test_a_task_that_is_gone_is_over_too(world: FakeWorld, disks: FakeKeptDisks) -> None:
    world.tracker.tasks.clear()
    await retention(world, disks, days=0).sweep()
    assert not disks.there


async def test_a_disk_whose_run_goes_on_stays(world: FakeWorld, disks: FakeKeptDisks) -> None:
    await world.runs.create(a_run(task=TASK.id, state=RunState.RUNNING))
    becomes(world, TaskStatus.DONE)
    await retention(world, disks, days=0).sweep()
    assert disks.there


async def test_one_that_somebody_uses_or_that_can_not_be_judged_shields_no_other(
    world: FakeWorld, disks: FakeKeptDisks
) -> None:
    class Shy(FakeTracker):
        async def task(self, task: TaskId) -> Task | None:
            if task.startswith("SECRET/"):
                raise Forbidden("the service user may not read SECRET")
            return await super().task(task)

    world.tracker = Shy()
    disks.add("SECRET/SECRET-1")
    disks.mounted.add(TASK.id)
    disks.add("DEMO/DEMO-99")
    await retention(world, disks, days=0).sweep()
    assert set(disks.there) == {TASK.id, "SECRET/SECRET-1"}


async def test_while_polarion_is_down_nothing_is_gone(
    world: FakeWorld, disks: FakeKeptDisks
) -> None:
    world.tracker.down = True
    with pytest.raises(Unavailable):
        await retention(world, disks, days=0).sweep()
    assert disks.there


class FakeMeasuredDisks:
    """Disks that hold so many bytes."""

    def __init__(self, **held: int) -> None:
        self.held = held
        self.unknown = TaskId("")

    async def used(self, task: TaskId) -> int:
        if task == self.unknown:
            raise Unavailable("nobody can say")
        return self.held[task.partition("/")[2].replace("-", "_")]


async def test_a_run_whose_disk_grows_over_the_cap_is_ended_and_no_other(world: FakeWorld) -> None:
    """CASE-77: where the kernel caps nothing, a typed end a second later."""
    ended: list[tuple[RunId, Exit]] = []

    async def end(run: RunId, how: Exit) -> None:
        ended.append((run, how))

    large = a_run(task=TaskId("DEMO/LARGE"), state=RunState.RUNNING)
    small = a_run(task=TaskId("DEMO/SMALL"), state=RunState.RUNNING)
    over = a_run(task=TaskId("DEMO/OVER"), state=RunState.SETTLING)
    for run in (large, small, over):
        await world.runs.create(run)
    disks = FakeMeasuredDisks(LARGE=101, SMALL=100, OVER=200)
    await DiskWatch(disks, world.runs, end, cap_bytes=100).look()
    assert [run for run, _ in ended] == [large.id]
    assert ended[0][1].cause is Cause.DISK
    assert "held 101 bytes, and may hold 100" in ended[0][1].detail


async def test_trouble_with_one_disk_shields_no_other(world: FakeWorld) -> None:
    tasks = [TaskId(f"DEMO/{name}") for name in ("LOST", "STUCK", "LARGE")]
    runs = [a_run(task=task, state=RunState.RUNNING) for task in tasks]
    asked: list[RunId] = []

    async def end(run: RunId, _how: Exit) -> None:
        asked.append(run)
        if run == runs[1].id:
            raise Unavailable("its container does not go away")

    for run in runs:
        await world.runs.create(run)
    disks = FakeMeasuredDisks(STUCK=101, LARGE=101)
    disks.unknown = tasks[0]
    await DiskWatch(disks, world.runs, end, cap_bytes=100).look()
    assert set(asked) == {runs[1].id, runs[2].id}
