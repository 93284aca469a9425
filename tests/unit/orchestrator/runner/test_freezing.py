"""From the alarm to the frozen sandbox, whatever comes in between."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest

from entrance.errors import Conflict, NotFound, Unavailable
from entrance.ports import Touched
from entrance.session import Ended, RunId, Session, TaskId, hash_token
from orchestrator.domain.run import RunState
from orchestrator.ports import Sandbox
from orchestrator.runner.freezes import Freezes
from orchestrator.runner.freezing import Freezing
from orchestrator.runner.thawing import discard, release
from orchestrator.runner.world import World
from tests.fakes.frozen import FakeAlerts
from tests.fakes.run import a_run
from tests.fakes.sandboxes import FakeSandboxes
from tests.fakes.world import FakeWorld
from tests.waiting import until

RUN, TASK = RunId("r1"), TaskId("DEMO/DEMO-7")
TOUCHED = Touched(RUN, TASK, "aws-secret", "/x", "a pushed pack", "git", "host/thing.git")


@pytest.fixture
def world(tmp_path: Path) -> FakeWorld:
    fakes = FakeWorld(tmp_path)
    fakes.sandboxes.live[RUN] = Sandbox("sb-1", "10.0.0.2", "token")
    fakes.disks.mounted.add(TASK)
    fakes.door.open(Session(RUN, TASK, "DEMO", "bot", "10.0.0.2", hash_token("t")))
    return fakes


@asynccontextmanager
async def at_work(world: World, woken: list[str], alerts: FakeAlerts) -> AsyncIterator[Freezing]:
    freezing = Freezing(world, woken.append, alerts, again_s=0.01)
    async with asyncio.TaskGroup() as tasks:
        loop = tasks.create_task(freezing.run())
        try:
            yield freezing
        finally:
            loop.cancel()


async def test_the_token_opens_nothing_in_the_moment_of_the_alarm(world: FakeWorld) -> None:
    one = world.world()
    Freezing(one, lambda _: None).raised(TOUCHED)
    assert world.door.find(hash_token("t")) == Ended(RUN)
    assert one.freezes.of(RUN)


async def test_an_alarm_freezes_the_sandbox_calls_for_help_and_is_remembered(
    world: FakeWorld,
) -> None:
    woken: list[str] = []
    alerts = FakeAlerts()
    async with at_work(world.world(), woken, alerts) as freezing:
        freezing.raised(TOUCHED)
        await until(lambda: RUN in world.frozen.kept and world.frozen.kept[RUN].alerted)
        freezing.raised(TOUCHED)
    assert world.sandboxes.frozen == {RUN}
    assert woken == [TASK]
    [told] = alerts.told
    assert (told.canary, told.where, told.kept) == ("aws-secret", "a pushed pack", True)
    again = Freezes(world.frozen).of(RUN)
    assert again == world.frozen.kept[RUN]


async def test_what_can_not_be_done_now_is_done_later(world: FakeWorld) -> None:
    world.sandboxes.refuse = Unavailable("the engine is away")
    alerts = FakeAlerts(trouble=[Unavailable("no webhook"), Unavailable("no webhook")])
    async with at_work(world.world(), [], alerts) as freezing:
        freezing.raised(TOUCHED)
        await until(lambda: RUN in world.frozen.kept)
        assert not world.frozen.kept[RUN].kept
        world.sandboxes.refuse = None
        await until(lambda: world.frozen.kept[RUN].alerted)
    assert world.sandboxes.frozen == {RUN}
    assert len(alerts.told) == 1


async def test_one_that_is_released_while_it_is_being_frozen_stays_released(
    world: FakeWorld,
) -> None:
    class Released(FakeSandboxes):
        async def freeze(self, run: RunId) -> bool:
            there = await super().freeze(run)
            await release(one, run)
            return there

    world.sandboxes = Released()
    woken: list[str] = []
    one, alerts = world.world(), FakeAlerts()
    async with at_work(one, woken, alerts) as freezing:
        freezing.raised(TOUCHED)
        await until(lambda: bool(woken))
    assert one.freezes.of(RUN) is None
    assert (world.frozen.kept, alerts.told) == ({}, [])


async def test_the_next_process_goes_on_where_one_ended(world: FakeWorld) -> None:
    world.sandboxes.refuse = Unavailable("the engine is away")
    async with at_work(world.world(), [], FakeAlerts()) as freezing:
        freezing.raised(TOUCHED)
        await until(lambda: RUN in world.frozen.kept)
    world.sandboxes.refuse = None
    async with at_work(world.world(), [], FakeAlerts()):
        await until(lambda: world.frozen.kept[RUN].alerted)
    assert world.sandboxes.frozen == {RUN}


async def test_what_goes_on_with_a_sandbox_is_broken_off(world: FakeWorld) -> None:
    one, reached = world.world(), []
    freezing = Freezing(one, lambda _: None)

    async def work() -> None:
        async with one.freezes.unless(RUN):
            reached.append("at work")
            await asyncio.sleep(60)
            reached.append("done")
        reached.append("over")

    async with asyncio.timeout(5), asyncio.TaskGroup() as tasks:
        tasks.create_task(work())
        await until(lambda: bool(reached))
        freezing.raised(TOUCHED)
    assert reached == ["at work", "over"]
    async with asyncio.timeout(5), one.freezes.unless(RUN):
        await asyncio.sleep(60)


async def test_a_time_limit_of_the_work_itself_is_not_swallowed(world: FakeWorld) -> None:
    with pytest.raises(TimeoutError):
        async with world.world().freezes.unless(RUN):
            raise TimeoutError


async def frozen(world: FakeWorld) -> World:
    one = world.world()
    async with at_work(one, [], FakeAlerts()) as freezing:
        freezing.raised(TOUCHED)
        await until(lambda: RUN in world.frozen.kept and world.frozen.kept[RUN].alerted)
    return one


async def test_a_released_sandbox_is_removed_and_its_disk_stays(world: FakeWorld) -> None:
    one = await frozen(world)
    assert (await release(one, RUN)).task == TASK
    assert (world.sandboxes.live, world.disks.mounted, world.disks.purged) == ({}, set(), set())
    assert world.frozen.kept == {}
    with pytest.raises(NotFound):
        await release(one, RUN)


async def test_a_discarded_sandbox_takes_its_disk_with_it(world: FakeWorld) -> None:
    await discard(await frozen(world), RUN)
    assert (world.sandboxes.live, world.disks.purged) == ({}, {TASK})


async def test_nothing_is_removed_while_its_run_settles(world: FakeWorld) -> None:
    one = await frozen(world)
    await world.runs.create(a_run(id=RUN, task=TASK, state=RunState.SETTLING))
    with pytest.raises(Conflict):
        await discard(one, RUN)
    assert world.sandboxes.live
    with suppress(Conflict):
        await release(one, RUN)
    assert world.frozen.kept
