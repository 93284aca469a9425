"""Of what a run ends that nobody handed over."""

from decimal import Decimal

from entrance.ports import Usage
from entrance.session import RunId
from orchestrator.domain.run import Cause, Outcome, Run, changed
from orchestrator.harnesses import HARNESSES
from orchestrator.ports import Sandbox, WallsFell
from tests.fakes.sandboxes import FakeHarness, FakeSandboxes
from tests.fakes.world import TASK, FakeWorld
from tests.unit.orchestrator.reconciler.driving import SAYS, settle_down


async def test_a_lost_sandbox_fails_the_run_and_does_not_restart_it(world: FakeWorld) -> None:
    """CASE-89: no silent restart, no double push."""
    world.sandboxes.harness.exit_code = None
    reconciler = world.reconciler()
    for _ in range(2):
        await reconciler.handle(TASK.id)
    world.sandboxes.live.clear()
    run = await settle_down(world)
    assert run
    assert (run.outcome, run.cause) == (Outcome.FAILED, Cause.SANDBOX_LOST)
    assert world.sandboxes.made == 1


class VanishingSandboxes(FakeSandboxes):
    """A sandbox that is gone as soon as it was found."""

    async def find(self, run: RunId, execd_token: str) -> Sandbox | None:
        found = await super().find(run, execd_token)
        self.live.clear()
        return found


async def test_a_heartbeat_that_finds_no_sandbox_is_a_lost_sandbox(world: FakeWorld) -> None:
    world.sandboxes = VanishingSandboxes(FakeHarness(SAYS, exit_code=None))
    reconciler = world.reconciler()
    for _ in range(3):
        await reconciler.handle(TASK.id)
    run = await world.runs.latest(TASK.id)
    assert run
    assert run.exit
    assert run.exit.cause is Cause.SANDBOX_LOST


class WalledSandboxes(FakeSandboxes):
    """Sandboxes whose firewall is found down at the heartbeat, and can't be put up."""

    async def renew(self, sandbox: Sandbox) -> None:
        self.live.clear()
        raise WallsFell(f"sandbox {sandbox.id} was ended: nft table sg1: it is missing")


async def test_a_heartbeat_that_finds_no_walls_ends_the_run_by_that_name(world: FakeWorld) -> None:
    world.sandboxes = WalledSandboxes(FakeHarness(SAYS, exit_code=None))
    run = await settle_down(world)
    assert run
    assert (run.outcome, run.cause) == (Outcome.FAILED, Cause.FIREWALL)
    assert run.exit
    assert "it is missing" in run.exit.detail


async def test_a_silent_harness_is_ended(world: FakeWorld) -> None:
    """CASE-94: no event for N seconds -> typed end."""
    world.sandboxes.harness.exit_code = None
    reconciler = world.reconciler()
    for _ in range(2):
        await reconciler.handle(TASK.id)
    run = await world.runs.latest(TASK.id)
    assert run
    await world.runs.replace(changed(run, cursor=2, heard_at=world.clock.now()))
    world.clock.advance(121)
    run = await settle_down(world)
    assert run
    assert run.cause is Cause.SILENT
    assert world.sandboxes.interrupted == ["cmd-1"]


async def begun(world: FakeWorld, lines: list[str]) -> Run:
    """The run, its harness having said these lines and going on."""
    world.sandboxes.harness.lines = lines
    world.sandboxes.harness.exit_code = None
    world.clock.advance(1)
    reconciler = world.reconciler()
    for _ in range(2):
        await reconciler.handle(TASK.id)
    run = await world.runs.latest(TASK.id)
    assert run
    seen = await world.world().tell(run.id, [HARNESSES["native"].read(line) for line in lines], 0)
    return await world.world().amend(run.id, lambda _: changed(seen, cursor=len(lines) - 1))


async def test_a_harness_that_says_it_is_over_and_goes_on_has_hung(world: FakeWorld) -> None:
    await begun(world, [*SAYS, '{"type":"ended","reason":"completed","detail":"done"}'])
    world.clock.advance(21)
    run = await settle_down(world)
    assert run
    assert (run.outcome, run.cause) == (Outcome.FAILED, Cause.HUNG)
    assert world.sandboxes.interrupted == ["cmd-1"]
    assert run.evidence["said"] == {"reason": "completed", "detail": "done"}


async def test_a_harness_without_tools_is_ended_at_once(world: FakeWorld) -> None:
    await begun(world, ['{"type":"started","unreachable":"the door said 401"}'])
    run = await settle_down(world)
    assert run
    assert (run.outcome, run.cause) == (Outcome.FAILED, Cause.TOOLS)
    assert "the door said 401" in world.tracker.comments[TASK.id][-1].text


async def test_a_failed_run_says_on_the_task_what_is_known_of_it(world: FakeWorld) -> None:
    at = "2026-01-05T09:00:00+00:00"
    world.trail += [
        {
            "seq": 1, "at": at, "type": "decided", "kind": "model_call", "subject": "p:m",
            "decision": "allow", "detail": {},
        },
        {
            "seq": 2, "at": at, "type": "outcome", "of": 1, "result": "failed",
            "detail": {"trouble": "rate_limit", "status": 429, "retry_after": "90"},
        },
    ]  # fmt: skip
    world.sandboxes.harness.exit_code = 3
    world.sandboxes.harness.lines = ['{"type":"ended","reason":"error","detail":"no luck"}']
    run = await settle_down(world)
    assert run
    assert run.cause is Cause.RATE_LIMIT
    assert run.evidence["model"]["lifts_at"] == "2026-01-05T09:01:30+00:00"
    said = world.tracker.comments[TASK.id][-1].text
    for words in ("exit 3", "no luck", "rate_limit (429); it lifts at 2026-01-05T09:01:30"):
        assert words in said


async def test_a_cancelled_run_is_interrupted_and_stopped(world: FakeWorld) -> None:
    world.sandboxes.harness.exit_code = None
    reconciler = world.reconciler()
    for _ in range(2):
        await reconciler.handle(TASK.id)
    run = await world.runs.latest(TASK.id)
    assert run
    await world.runs.replace(changed(run, cancelled_by="lead"))
    run = await settle_down(world)
    assert run
    assert (run.outcome, run.cause) == (Outcome.STOPPED, Cause.CANCELLED)
    assert world.sandboxes.interrupted == ["cmd-1"]


async def test_a_spent_budget_stops_the_run(world: FakeWorld) -> None:
    world.sandboxes.harness.exit_code = 1
    reconciler = world.reconciler()
    await reconciler.handle(TASK.id)
    run = await world.runs.latest(TASK.id)
    assert run
    world.runs.spend(run.id, Usage(cost_usd=Decimal(2), calls=1))
    run = await settle_down(world)
    assert run
    assert (run.outcome, run.cause) == (Outcome.STOPPED, Cause.BUDGET)
    assert world.tracker.hired[run.engagement].spent_usd == 2


async def test_a_budget_that_could_not_pay_the_next_call_stops_the_run(world: FakeWorld) -> None:
    """What is left may be too little for a call long before it is nothing."""
    world.sandboxes.harness.exit_code = 1
    world.trail.append(
        {
            "seq": 1, "at": "2026-01-05T09:00:00+00:00", "type": "decided", "kind": "model_call",
            "subject": "p:m", "decision": "deny", "reason": "no money", "detail": {"refused": "budget"},
        }
    )  # fmt: skip
    await world.reconciler().handle(TASK.id)
    run = await settle_down(world)
    assert run
    assert (run.outcome, run.cause) == (Outcome.STOPPED, Cause.BUDGET)
