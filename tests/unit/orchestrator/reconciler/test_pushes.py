"""A run's session has what is asked of its pushes, and no run starts when nobody can say what."""

from dataclasses import replace

from entrance.push_policy import Mode, PushPolicy
from orchestrator.domain.egress import Unreadable
from orchestrator.domain.push_demand import Demand
from orchestrator.domain.task import TaskStatus
from tests.fakes.world import ENGAGEMENT, TASK, FakeWorld
from tests.unit.orchestrator.reconciler.driving import settle_down


async def test_a_session_has_the_stricter_of_installation_and_engagement(world: FakeWorld) -> None:
    world.pushes = PushPolicy({"gate-path": Mode.NOTE, "submodule": Mode.DENY}, ("a/**",))
    asks = Demand(modes={"gate-path": Mode.DENY, "submodule": Mode.NOTE}, gate_paths=("b/**",))
    world.tracker.hired[ENGAGEMENT.id] = replace(ENGAGEMENT, pushes=asks)
    run = await settle_down(world)
    assert run
    assert run.session
    policy = run.session.push_policy
    assert (policy.modes["gate-path"], policy.modes["submodule"]) == (Mode.DENY, Mode.DENY)
    assert policy.gate_paths == ("a/**", "b/**")


async def test_no_run_starts_when_what_is_asked_can_not_be_read(world: FakeWorld) -> None:
    unreadable = Unreadable("pushes of DEMO/DEMO-1, line 4: no")
    world.tracker.hired[ENGAGEMENT.id] = replace(ENGAGEMENT, pushes=unreadable)
    assert await settle_down(world) is None
    assert world.tracker.tasks[TASK.id].status is TaskStatus.FAILED
    assert not world.sandboxes.specs
