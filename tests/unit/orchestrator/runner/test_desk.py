"""What an agent's tools may do to its run."""

from dataclasses import replace
from pathlib import Path

import pytest

from entrance.errors import Conflict, NotFound
from entrance.session import Ended, RepoGrant, RunId, Session
from orchestrator.domain.run import Ending, Outcome, Run, RunState, changed
from orchestrator.janitor import Janitor
from orchestrator.runner.desk import Desk
from tests.fakes.clock import START
from tests.fakes.run import a_run
from tests.fakes.world import TASK, FakeWorld

ENDING = Ending(Outcome.SUBMITTED, "done", START)
OTHER = Ending(Outcome.ASKED, "why?", START)


@pytest.fixture
def world(tmp_path: Path) -> FakeWorld:
    return FakeWorld(tmp_path)


@pytest.fixture
def desk(world: FakeWorld) -> Desk:
    return Desk(world.world())


@pytest.fixture
async def run(world: FakeWorld) -> Run:
    run = a_run(state=RunState.RUNNING, record="DEMO/DEMO-R1")
    await world.runs.create(run)
    return run


async def test_a_handover_is_noted_once(desk: Desk, world: FakeWorld, run: Run) -> None:
    assert await desk.record_of(run.id) == "DEMO/DEMO-R1"
    await desk.may_hand_over(run.id)
    await desk.hand_over(run.id, ENDING)
    for attempt in (desk.may_hand_over(run.id), desk.hand_over(run.id, OTHER)):
        with pytest.raises(Conflict, match="submitted already; nothing can follow"):
            await attempt
    assert (await world.runs.get(run.id)).ending == ENDING


async def test_a_handover_that_was_refused_leaves_room_for_another(
    desk: Desk, world: FakeWorld, run: Run
) -> None:
    await desk.hand_over(run.id, ENDING)
    for _ in range(2):
        await desk.take_back(run.id)
    assert (await world.runs.get(run.id)).ending is None
    await desk.hand_over(run.id, OTHER)
    assert (await world.runs.get(run.id)).ending == OTHER


async def test_nothing_is_pushed_after_a_handover_but_when_it_is_taken_back(
    desk: Desk, world: FakeWorld
) -> None:
    """A process that an agent leaves behind must not change what its supervisor is looking at."""
    session = Session(
        RunId("r"), TASK.id, "DEMO", "bot-rex", "10.0.0.2", "hash",
        repositories=(RepoGrant("git.example/a", "https://git.example/a", push=True),),
    )  # fmt: skip
    await world.runs.create(a_run(id=session.run, state=RunState.RUNNING, session=session))
    world.door.open(session)
    await desk.hand_over(session.run, ENDING)
    assert pushes(world) == [False]
    await desk.take_back(session.run)
    assert pushes(world) == [True]
    await desk.hand_over(session.run, ENDING)
    await Janitor(world.world()).restore()
    assert pushes(world) == [False], "also after a restart of the runner"


def pushes(world: FakeWorld) -> list[bool]:
    found = world.door.find("hash")
    assert isinstance(found, Session)
    return [grant.push for grant in found.repositories]


async def test_taking_back_opens_no_door_that_was_closed_meanwhile(
    desk: Desk, world: FakeWorld
) -> None:
    session = Session(RunId("r"), TASK.id, "DEMO", "bot-rex", "10.0.0.2", "hash")
    await world.runs.create(a_run(id=session.run, state=RunState.RUNNING, session=session))
    await desk.hand_over(session.run, ENDING)
    world.door.close(session.run)
    await desk.take_back(session.run)
    assert world.door.find("hash") == Ended(session.run)


async def test_a_handover_that_is_settled_by_is_not_taken_back(
    desk: Desk, world: FakeWorld, run: Run
) -> None:
    await desk.hand_over(run.id, ENDING)
    now = await world.runs.get(run.id)
    await world.runs.replace(replace(changed(now), state=RunState.SETTLING))
    await desk.take_back(run.id)
    assert (await world.runs.get(run.id)).ending == ENDING


@pytest.mark.parametrize("state", [one for one in RunState if one is not RunState.RUNNING])
async def test_only_a_running_run_is_handed_over(
    desk: Desk, world: FakeWorld, state: RunState
) -> None:
    run = a_run(state=state)
    await world.runs.create(run)
    for attempt in (desk.may_hand_over(run.id), desk.hand_over(run.id, ENDING)):
        with pytest.raises(Conflict, match="this run is over"):
            await attempt


async def test_a_run_that_is_unknown_has_no_desk(desk: Desk) -> None:
    for attempt in (desk.record_of(RunId("x")), desk.hand_over(RunId("x"), ENDING)):
        with pytest.raises(NotFound):
            await attempt
