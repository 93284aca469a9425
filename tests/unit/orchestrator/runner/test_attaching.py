"""Attestations get to the record of the run whose push they are about."""

from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from entrance.errors import Unavailable
from entrance.ports import AcceptedPush
from entrance.session import RunId
from orchestrator.domain.run import RunState
from orchestrator.ports import RunRecord
from orchestrator.runner.attaching import AttachingWitness
from tests.fakes.attested import SESSION, accepted
from tests.fakes.run import a_run
from tests.fakes.world import FakeWorld

NAME = "0000000003-aaaaaaaaaaaaaaaa.json"


@dataclass
class FakeWitness:
    """Writes a file as the door's witness does."""

    folder: Path
    world: FakeWorld
    told: list[AcceptedPush] = field(default_factory=list)

    async def accepted(self, push: AcceptedPush) -> None:
        self.told.append(push)
        (self.folder / NAME).write_text("signed")
        self.world.attested = [self.folder / NAME]


@pytest.fixture
def world(tmp_path: Path) -> FakeWorld:
    return FakeWorld(tmp_path)


async def recorded(world: FakeWorld, state: RunState) -> tuple[AttachingWitness, str, AcceptedPush]:
    run = a_run(state=state)
    run = replace(
        run, record=await world.tracker.record(RunRecord(run, "t", run.engagement, {}, []))
    )
    await world.runs.create(run)
    push = accepted(session=replace(SESSION, run=run.id))
    if state is RunState.RUNNING:
        world.door.open(push.session)
    witness = FakeWitness(world.folder, world)
    return AttachingWitness(witness, world.world(), world.door.open_runs), run.record, push


@pytest.mark.parametrize(
    ("state", "now"),
    [(RunState.RUNNING, False), (RunState.SETTLING, True), (RunState.ENDED, True)],
)
async def test_what_comes_after_a_runs_end_is_attached_at_once(
    world: FakeWorld, state: RunState, *, now: bool
) -> None:
    """CASE-114: to the run's own record, never to a heading."""
    witness, record, push = await recorded(world, state)
    await witness.accepted(push)
    await witness.accepted(push)
    kept = {(record, f"attestation-{NAME}"): b"signed"} if now else {}
    assert world.tracker.attached == kept


async def test_a_push_of_a_run_that_nobody_knows_is_attested_all_the_same(world: FakeWorld) -> None:
    witness, _, push = await recorded(world, RunState.ENDED)
    await witness.accepted(replace(push, session=replace(SESSION, run=RunId("gone"))))
    assert world.attested
    assert not world.tracker.attached


async def test_polarion_may_be_away_and_it_is_attached_the_next_time(world: FakeWorld) -> None:
    witness, record, push = await recorded(world, RunState.ENDED)
    world.tracker.down = True
    with pytest.raises(Unavailable):
        await witness.accepted(push)
    world.tracker.down = False
    await witness.accepted(push)
    assert (record, f"attestation-{NAME}") in world.tracker.attached
