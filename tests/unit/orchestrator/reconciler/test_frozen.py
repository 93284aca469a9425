"""A run whose honeytoken was touched: it fails, its sandbox stays, and no other run follows."""

import asyncio

from entrance.ports import Touched
from orchestrator.domain.run import Cause, Ending, Outcome, Run, RunState, changed
from orchestrator.domain.task import TaskStatus
from orchestrator.janitor import Janitor
from orchestrator.reconciler import Reconciler
from orchestrator.runner.freezing import Freezing
from orchestrator.runner.thawing import release
from tests.fakes.world import TASK, FakeWorld


async def running(world: FakeWorld) -> tuple[Reconciler, Run]:
    """The task's run, in the middle of its work."""
    world.sandboxes.harness.exit_code = None
    reconciler = world.reconciler()
    for _ in range(2):
        await reconciler.handle(TASK.id)
    run = await world.runs.latest(TASK.id)
    assert run
    assert run.state is RunState.RUNNING
    return reconciler, run


def touched(run: Run) -> Touched:
    return Touched(run.id, run.task, "aws-secret", "/x", "a pushed pack", "git", "host/thing.git")


async def to_its_end(reconciler: Reconciler, world: FakeWorld) -> Run:
    for _ in range(20):
        if await reconciler.handle(TASK.id) is None:
            break
        world.clock.advance(1)
    run = await world.runs.latest(TASK.id)
    assert run
    return run


async def test_the_run_fails_by_it_and_its_sandbox_and_disk_stay(world: FakeWorld) -> None:
    reconciler, run = await running(world)
    Freezing(reconciler.world, lambda _: None).raised(touched(run))
    run = await to_its_end(reconciler, world)
    assert (run.state, run.outcome, run.cause) == (
        RunState.ENDED,
        Outcome.FAILED,
        Cause.HONEYTOKEN,
    )
    assert world.sandboxes.frozen == {run.id}
    assert world.disks.mounted == {TASK.id}
    assert world.sandboxes.interrupted == []
    assert run.evidence["honeytoken"]["canary"] == "aws-secret"
    said = world.tracker.comments[TASK.id][-1].text
    assert f"sandgate frozen show {run.id}" in said
    assert world.tracker.tasks[TASK.id].status is TaskStatus.FAILED


async def test_who_follows_it_stops_in_that_moment(world: FakeWorld) -> None:
    """What is paused doesn't answer: nobody waits for it."""
    reconciler, run = await running(world)
    async with asyncio.timeout(10), asyncio.TaskGroup() as tasks:
        following = tasks.create_task(reconciler.handle(TASK.id))
        await asyncio.sleep(0)
        assert not following.done()
        Freezing(reconciler.world, lambda _: None).raised(touched(run))
    assert (await to_its_end(reconciler, world)).cause is Cause.HONEYTOKEN


async def test_a_handover_before_does_not_make_it_a_success(world: FakeWorld) -> None:
    reconciler, run = await running(world)
    ending = Ending(Outcome.SUBMITTED, "all fine", world.clock.now())
    await world.runs.replace(changed(run, ending=ending))
    Freezing(reconciler.world, lambda _: None).raised(touched(run))
    run = await to_its_end(reconciler, world)
    assert (run.outcome, run.cause) == (Outcome.FAILED, Cause.HONEYTOKEN)
    assert "honeytoken aws-secret" in world.tracker.comments[TASK.id][-1].text


async def test_neither_the_janitor_nor_a_fallen_firewall_removes_it(world: FakeWorld) -> None:
    reconciler, run = await running(world)
    Freezing(reconciler.world, lambda _: None).raised(touched(run))
    await to_its_end(reconciler, world)
    janitor = Janitor(reconciler.world)
    await janitor.sweep()
    await janitor.end_all("the firewall is gone")
    assert list(world.sandboxes.live) == [run.id]


async def test_no_other_run_starts_before_it_is_released(world: FakeWorld) -> None:
    reconciler, run = await running(world)
    Freezing(reconciler.world, lambda _: None).raised(touched(run))
    await to_its_end(reconciler, world)
    await world.tracker.act(TASK.id, "retry")
    await reconciler.handle(TASK.id)
    assert "sandgate frozen show" in reconciler.waits[TASK.id]
    assert await world.runs.latest(TASK.id) == await world.runs.get(run.id)
    await release(reconciler.world, run.id)
    for _ in range(2):
        await reconciler.handle(TASK.id)
    another = await world.runs.latest(TASK.id)
    assert another
    assert another.id != run.id


async def test_an_alarm_that_the_process_did_not_survive_is_found_in_the_log(
    world: FakeWorld,
) -> None:
    _, run = await running(world)
    world.trail.append(
        {
            "seq": 7,
            "type": "decided",
            "at": world.clock.now().isoformat(),
            "door": "git",
            "kind": "git_push",
            "subject": "host/thing.git",
            "decision": "deny",
            "reason": "",
            "rule": "honeytoken",
            "detail": {"honeytoken": "aws-secret", "place": "/x", "where": "a pushed pack"},
        }
    )
    world.door.close(run.id)
    next_process = world.reconciler()
    await Janitor(next_process.world).restore()
    assert not world.door.open_runs()
    assert world.frozen.kept.keys() == {run.id}
    run = await to_its_end(next_process, world)
    assert run.cause is Cause.HONEYTOKEN


async def test_each_run_has_canaries_of_its_own_and_those_before_count_too(
    world: FakeWorld,
) -> None:
    reconciler, first = await running(world)
    assert first.session
    assert first.session.honeytokens == (first.id,)
    world.sandboxes.harness.exit_code = 1
    await to_its_end(reconciler, world)
    await world.tracker.act(TASK.id, "retry")
    for _ in range(2):
        await reconciler.handle(TASK.id)
    second = await world.runs.latest(TASK.id)
    assert second
    assert second.session
    assert second.session.honeytokens == (second.id, first.id)
    one, other = world.sandboxes.planted
    assert one["PATH_0"] == other["PATH_0"] == "/home/agent/.aws/credentials"
    assert not {value for name, value in one.items() if name.startswith("TEXT")} & set(
        other.values()
    )
