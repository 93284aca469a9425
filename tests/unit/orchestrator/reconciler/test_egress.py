"""No run works before what it may reach is in force, and none whose policy can't be read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from entrance.errors import Unavailable
from entrance.session import RunId, hash_token
from orchestrator.domain.egress import Policy, Unreadable
from orchestrator.domain.egress_compile import Layer
from orchestrator.domain.run import Cause, Run, RunState
from orchestrator.domain.task import TaskStatus
from tests.fakes.world import AGENT, ENGAGEMENT, TASK, FakeWorld
from tests.unit.orchestrator.reconciler.driving import settle_down

DOCS, PYPI = Policy(presets=("docs",)), Policy(presets=("pypi",))


@dataclass
class Gate:
    """`orchestrator.runner.ports.Egress` that notes what had happened when it was asked."""

    world: FakeWorld
    away: bool = False
    missing: tuple[str, ...] = ()
    asked: list[tuple[RunId, bool, int]] = field(default_factory=list)
    """Who, whether its token was open, and how many harnesses had been started."""

    def environment(self, run: Run) -> Mapping[str, str]:
        return {"REGISTRY": ",".join(layer.name for layer in run.egress)}

    def way_out(self, token: str) -> Mapping[str, str]:
        return {"HTTPS_PROXY": token}

    async def admit(self, run: Run) -> Sequence[str]:
        opened = run.id in self.world.door.open_runs()
        self.asked.append((run.id, opened, len(self.world.sandboxes.started)))
        if self.away:
            raise Unavailable("the egress proxy did not take up its policy in 10 s")
        return self.missing

    def reaches(self, run: RunId) -> Sequence[str]:
        return [f"GET https://{run}.example"]


def with_policies(world: FakeWorld, agent: Policy | Unreadable, hired: Policy | Unreadable) -> Gate:
    world.tracker.agents[AGENT.bot] = replace(AGENT, egress=agent)
    world.tracker.hired[ENGAGEMENT.id] = replace(ENGAGEMENT, egress=hired)
    gate = Gate(world)
    world.egress = gate
    return gate


async def test_the_policy_is_in_force_before_the_first_process(world: FakeWorld) -> None:
    """CASE-82: the session is open by then, and nothing has been started in the sandbox."""
    gate = with_policies(world, DOCS, PYPI)
    run = await settle_down(world)
    assert run
    assert gate.asked == [(run.id, True, 0)]
    assert run.egress == (Layer("agent", DOCS), Layer("engagement", PYPI))
    assert world.sandboxes.specs[0].env == {"REGISTRY": "agent,engagement"}
    told = b"".join(world.sandboxes.written.values()).decode()
    assert f"- GET https://{run.id}.example" in told
    assert "no other network" not in told


async def test_only_the_runs_own_programs_are_shown_the_way_out_with_their_token(
    world: FakeWorld,
) -> None:
    with_policies(world, DOCS, PYPI)
    run = await settle_down(world)
    assert "HTTPS_PROXY" not in world.sandboxes.specs[0].env
    ((_, environment),) = world.sandboxes.started
    assert run
    assert run.session
    assert hash_token(environment["HTTPS_PROXY"]) == run.session.token_sha256


async def test_a_policy_that_is_not_in_force_starts_nothing(world: FakeWorld) -> None:
    gate = with_policies(world, DOCS, PYPI)
    gate.away = True
    reconciler = world.reconciler()
    for _ in range(4):
        await reconciler.handle(TASK.id)
    assert len(gate.asked) > 1
    assert not world.sandboxes.started
    assert not world.sandboxes.live
    assert not world.door.open_runs()
    gate.away = False
    assert await settle_down(world)
    assert world.sandboxes.started


async def test_what_is_left_out_of_the_wishes_is_said_in_the_run(world: FakeWorld) -> None:
    gate = with_policies(world, DOCS, PYPI)
    gate.missing = ("engagement: the preset pypi is not available here", "and more")
    run = await settle_down(world)
    assert run
    said = [event.data.get("egress") async for event in world.runs.events(run.id)]
    assert "engagement: the preset pypi is not available here; and more" in said


async def test_a_policy_that_can_not_be_read_refuses_the_run_on_the_task(world: FakeWorld) -> None:
    gate = with_policies(world, DOCS, Unreadable("egress of DEMO/DEMO-1, line 4: no"))
    assert await settle_down(world) is None
    assert world.tracker.tasks[TASK.id].status is TaskStatus.FAILED
    assert "line 4" in world.tracker.comments[TASK.id][-1].text
    assert not gate.asked


async def test_one_that_became_unreadable_after_the_run_began_fails_it(world: FakeWorld) -> None:
    gate = with_policies(world, DOCS, PYPI)
    reconciler = world.reconciler()
    await reconciler.handle(TASK.id)
    with_policies(world, Unreadable("egress of A, line 2: no"), PYPI)
    run = await settle_down(world)
    assert run
    assert (run.state, run.cause) == (RunState.ENDED, Cause.PREPARATION)
    assert run.exit
    assert "line 2" in run.exit.detail
    assert not gate.asked
    assert not world.sandboxes.made
