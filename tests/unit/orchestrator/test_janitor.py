"""The janitor: what it opens again after a start, and what it removes."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest

from entrance.errors import Unavailable
from entrance.session import Ended, RunId, Session, hash_token
from orchestrator.domain.run import Cause, Exit, Outcome, RunState
from orchestrator.janitor import Janitor
from orchestrator.ports import Sandbox
from orchestrator.runner.finish import finish
from orchestrator.runner.settle import settle
from tests.fakes.run import a_run
from tests.fakes.sandboxes import FakeSandboxes
from tests.fakes.world import FakeWorld
from tests.waiting import until

DOWN = "the firewall can't be kept up: nft table sg1: it is missing"


@pytest.fixture
def world(tmp_path: Path) -> FakeWorld:
    return FakeWorld(tmp_path)


def box(world: FakeWorld, run: str) -> None:
    world.sandboxes.live[RunId(run)] = Sandbox(f"sb-{run}", "10.0.0.9", "token")


async def test_only_sessions_of_running_runs_are_opened_again(world: FakeWorld) -> None:
    for state in RunState:
        run = a_run(id=RunId(str(state)), state=state)
        await world.runs.create(a_run(id=run.id, state=state, session=session(run.id)))
    await world.runs.create(a_run(id=RunId("bare"), state=RunState.RUNNING))
    await Janitor(world.world()).restore()
    assert world.door.open_runs() == {"running"}
    assert isinstance(world.door.find(hash_token("token of running")), Session)


async def test_a_start_without_the_store_opens_nothing(world: FakeWorld) -> None:
    world.runs.down = True
    with pytest.raises(Unavailable):
        await Janitor(world.world()).restore()
    assert not world.door.open_runs()


async def test_sandboxes_of_runs_that_are_over_or_unknown_are_removed(world: FakeWorld) -> None:
    live = a_run(state=RunState.RUNNING)
    over = a_run(state=RunState.ENDED, session=session(RunId("x")))
    for run in (live, over):
        await world.runs.create(run)
        box(world, run.id)
    box(world, "nobody-knows-it")
    world.door.open(session(over.id))
    await Janitor(world.world()).sweep()
    assert list(world.sandboxes.live) == [live.id]
    assert isinstance(world.door.find(hash_token(f"token of {over.id}")), Ended)


async def test_a_run_that_begins_while_it_looks_keeps_its_sandbox(world: FakeWorld) -> None:
    class Busy(FakeSandboxes):
        """While the engine lists containers, a run begins and its sandbox is made."""

        async def orphans(self, live: Sequence[RunId]) -> Sequence[RunId]:
            run = a_run(state=RunState.PREPARING)
            await world.runs.create(run)
            box(world, run.id)
            return await super().orphans(live)

    world.sandboxes = Busy()
    box(world, "nobody-knows-it")
    await Janitor(world.world()).sweep()
    (left,) = world.sandboxes.live
    assert (await world.runs.get(left)).active


class Stubborn(FakeSandboxes):
    """Of these the first can't be killed."""

    async def kill(self, run: RunId) -> None:
        if run == "first":
            raise Unavailable("the engine is busy with it")
        await super().kill(run)


async def test_one_that_can_not_be_removed_shields_no_other(world: FakeWorld) -> None:
    world.sandboxes = Stubborn()
    box(world, "first")
    box(world, "second")
    await Janitor(world.world()).sweep()
    assert list(world.sandboxes.live) == ["first"]


async def test_all_sandboxes_are_ended_when_they_must_be_also_of_runs_that_go_on(
    world: FakeWorld,
) -> None:
    run = a_run(state=RunState.RUNNING)
    await world.runs.create(run)
    box(world, run.id)
    box(world, "nobody-knows-it")
    world.runs.down = True
    await Janitor(world.world()).end_all(DOWN)
    assert not world.sandboxes.live


@pytest.mark.parametrize("first", ["who ends it", "who follows it"])
async def test_a_run_whose_walls_fell_says_so_whoever_was_first_to_see_it(
    world: FakeWorld, first: str
) -> None:
    run = a_run(state=RunState.RUNNING, command="cmd-1")
    await world.runs.create(run)
    box(world, run.id)
    if first == "who follows it":
        await finish(world.world(), run, Exit(None, Cause.SANDBOX_LOST, "the sandbox is lost"))
    await Janitor(world.world()).end_all(DOWN)
    await settle(world.world(), await world.runs.get(run.id))
    ended = await world.runs.get(run.id)
    assert (ended.outcome, ended.cause) == (Outcome.FAILED, Cause.FIREWALL)
    assert ended.exit == Exit(None, Cause.FIREWALL, DOWN)


async def test_a_run_that_was_over_before_the_walls_fell_keeps_its_own_end(
    world: FakeWorld,
) -> None:
    run = a_run(state=RunState.SETTLING, exit=Exit(0))
    await world.runs.create(run)
    box(world, run.id)
    await Janitor(world.world()).end_all(DOWN)
    assert await world.runs.get(run.id) == run


async def test_one_sandbox_that_can_not_be_ended_shields_no_other_and_is_told(
    world: FakeWorld,
) -> None:
    world.sandboxes = Stubborn()
    box(world, "first")
    box(world, "second")
    with pytest.raises(Unavailable, match="busy with it"):
        await Janitor(world.world()).end_all(DOWN)
    assert list(world.sandboxes.live) == ["first"]


async def test_an_outage_is_for_the_next_sweep(world: FakeWorld) -> None:
    box(world, "nobody-knows-it")
    world.runs.down = True
    async with asyncio.TaskGroup() as tasks:
        task = tasks.create_task(Janitor(world.world(), every_s=0.001).run())
        for _ in range(5):
            await asyncio.sleep(0)
        assert world.sandboxes.live, "what can't be known is left alone"
        world.runs.down = False
        await until(lambda: not world.sandboxes.live)
        task.cancel()


def session(run: RunId) -> Session:
    return Session(
        run=run,
        task=a_run().task,
        project="DEMO",
        agent="bot-rex",
        address="10.0.0.9",
        token_sha256=hash_token(f"token of {run}"),
    )
