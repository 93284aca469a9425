"""What the battery found decides whether a run starts, and stands on its record."""

from pathlib import Path

from entrance.session import RunId
from orchestrator.domain.run import RunState
from orchestrator.posture import Posture
from orchestrator.posture.ports import Waiver
from orchestrator.posture.proving import Proving
from orchestrator.reconciler import Reconciler
from tests.fakes.posture import FakeBattery, proving_of
from tests.fakes.probing import WELL, Probing
from tests.fakes.world import TASK, FakeWorld


async def gated(fakes: FakeWorld, proving: Proving) -> Reconciler:
    """A reconciler behind the gate, with the network proven."""
    posture = Posture(Probing(WELL), walls=proving)
    await posture.look()
    return Reconciler(
        fakes.world(), lambda: RunId("new000000000001"), lambda: posture.closed, proving.told
    )


async def test_no_run_starts_on_a_regression_until_a_person_accepts_it_by_name(
    tmp_path: Path,
) -> None:
    fakes = FakeWorld(tmp_path)
    proving = proving_of(FakeBattery({"one": "reached", "two": "closed"}))
    reconciler = await gated(fakes, proving)
    await reconciler.handle(TASK.id)
    assert "never proven" in reconciler.waits[TASK.id]
    await proving.prove("installation")
    await reconciler.handle(TASK.id)
    assert "one (found: reached" in reconciler.waits[TASK.id]
    assert await fakes.runs.latest(TASK.id) is None
    await proving.accept(Waiver("one", "the old switch", "lead"))
    await reconciler.handle(TASK.id)
    run = await fakes.runs.latest(TASK.id)
    assert run is not None
    assert run.state is RunState.QUEUED


async def test_the_record_of_a_run_names_the_report_and_what_was_accepted(tmp_path: Path) -> None:
    fakes = FakeWorld(tmp_path)
    proving = proving_of(FakeBattery({"one": "reached", "two": "closed"}))
    report = await proving.prove("installation")
    await proving.accept(Waiver("one", "the old switch", "lead"))
    reconciler = await gated(fakes, proving)
    for _ in range(2):
        await reconciler.handle(TASK.id)
    run = await fakes.runs.latest(TASK.id)
    assert run is not None
    assert run.facts["posture"] == {
        "report": report.id,
        "fingerprint": report.fingerprint,
        "accepted": ["one (lead)"],
    }


async def test_a_run_that_was_queued_waits_when_a_wall_falls(tmp_path: Path) -> None:
    fakes = FakeWorld(tmp_path)
    battery = FakeBattery()
    proving = proving_of(battery)
    await proving.prove("installation")
    reconciler = await gated(fakes, proving)
    await reconciler.handle(TASK.id)
    battery.finds["two"] = "reached"
    await proving.prove("schedule")
    await reconciler.handle(TASK.id)
    run = await fakes.runs.latest(TASK.id)
    assert run is not None
    assert run.state is RunState.QUEUED
    assert "two" in reconciler.waits[TASK.id]
    assert not fakes.sandboxes.live
