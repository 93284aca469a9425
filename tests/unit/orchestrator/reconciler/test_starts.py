"""What keeps a task from being run, and what it is told then."""

from dataclasses import replace

import pytest
from structlog.testing import capture_logs

from entrance.errors import Conflict, Forbidden, Unavailable
from entrance.session import Authorship, TaskId
from orchestrator.domain.run import Cause, Outcome, Run, RunState
from orchestrator.domain.task import Task, TaskStatus
from orchestrator.reconciler import AT_ONCE
from tests.fakes.runs import FakeRuns
from tests.fakes.sandboxes import IMAGE
from tests.fakes.tracker import FakeTracker
from tests.fakes.world import TASK, FakeWorld
from tests.unit.orchestrator.reconciler.driving import settle_down


@pytest.mark.parametrize(
    ("harness", "model", "speaks"),
    [
        ("claude_code", "anthropic:m", True),
        ("claude_code", "openai:m", False),
        ("codex", "openai:m", True),
        ("codex", "house:m", False),
        ("claude_code", "house:m", True),
        ("codex", "company:m", True),
        ("claude_code", "company:m", False),
        ("native", "google:m", True),
        ("unheard of", "google:m", True),
    ],
)
def test_a_harness_talks_to_providers_whose_api_it_speaks(
    world: FakeWorld, harness: str, model: str, *, speaks: bool
) -> None:
    """`company` was said to speak as OpenAI does; nobody said anything of `house`."""
    world.dialects = {"company": "openai"}
    assert (world.world().unspoken(harness, model) == "") is speaks


async def test_an_outage_postpones_and_a_deadline_ends_it(world: FakeWorld) -> None:
    world.sandboxes.refuse = Unavailable("no engine")
    reconciler = world.reconciler()
    await reconciler.handle(TASK.id)
    for _ in range(3):
        assert await reconciler.handle(TASK.id)
    world.clock.advance(10_000)
    run = await settle_down(world)
    assert run
    assert (run.outcome, run.cause) == (Outcome.STOPPED, Cause.DEADLINE)
    assert world.tracker.tasks[TASK.id].status is TaskStatus.FAILED


async def test_a_run_that_waits_says_why_once(world: FakeWorld) -> None:
    """Whoever watches it saw `preparing` every few seconds, and never a reason."""
    world.sandboxes.refuse = Unavailable("no engine")
    reconciler = world.reconciler()
    for _ in range(4):
        await reconciler.handle(TASK.id)
    world.closed = "the network is open"
    for _ in range(3):
        await reconciler.handle(TASK.id)
    run = await world.runs.latest(TASK.id)
    assert run
    assert [event.data async for event in world.runs.events(run.id)] == [
        {"state": "queued", "trigger": "assigned"},
        {"state": "preparing"},
        {"state": "preparing", "waits": "no engine"},
        {"state": "preparing", "waits": "the network is open"},
    ]


async def test_a_leaking_network_starts_no_run(world: FakeWorld) -> None:
    """CASE-20, CASE-82: nothing starts while the posture is not proven."""
    world.closed = "a sandbox reached DNS"
    assert await world.reconciler().handle(TASK.id)
    assert await world.runs.latest(TASK.id) is None
    assert not world.sandboxes.made


async def test_a_task_that_can_not_be_run_says_why_once(world: FakeWorld) -> None:
    world.tracker.agents.clear()
    assert await settle_down(world) is None
    assert world.tracker.tasks[TASK.id].status is TaskStatus.FAILED
    assert [c.title for c in world.tracker.comments[TASK.id]] == ["Can't be run"]


async def test_an_agent_whose_harness_is_in_no_sandbox_here_is_refused(
    world: FakeWorld,
) -> None:
    world.offered = frozenset({"codex"})
    assert await settle_down(world) is None
    assert world.tracker.tasks[TASK.id].status is TaskStatus.FAILED
    assert "`sandgate up --harness native`" in world.tracker.comments[TASK.id][0].text
    assert not world.sandboxes.made


async def test_another_agents_run_does_not_stop_this_one(world: FakeWorld) -> None:
    other = replace(TASK, id=TaskId("DEMO/DEMO-8"), assignees=("bot-max",))
    world.tracker.tasks[other.id] = other
    run = await settle_down(world)
    assert run
    assert run.state is RunState.ENDED


async def test_a_task_that_waits_for_a_busy_agent_does_not_read_it_again(world: FakeWorld) -> None:
    """Polarion is asked for the task and the engagements only, however many tasks wait."""
    other = replace(TASK, id=TaskId("DEMO/DEMO-8"))
    world.tracker.tasks[other.id] = other
    await world.reconciler().handle(other.id)
    world.tracker.agents.clear()
    assert await world.reconciler().handle(TASK.id)
    assert world.tracker.tasks[TASK.id].status is TaskStatus.OPEN, "it waits, and isn't refused"
    assert await world.runs.latest(TASK.id) is None


class BeatenRuns(FakeRuns):
    """Another process has made a run of the same task, or agent, a moment ago."""

    async def create(self, run: Run) -> None:
        raise Conflict(f"{run.task} has an active run")


async def test_a_run_that_is_refused_its_place_executes_nothing(world: FakeWorld) -> None:
    """CASE-90."""
    world.runs = BeatenRuns()
    reconciler = world.reconciler()
    for _ in range(3):
        assert await reconciler.handle(TASK.id) == AT_ONCE
    assert (world.sandboxes.made, world.sandboxes.started, world.disks.mounted) == (0, [], set())
    assert world.tracker.tasks[TASK.id].status is TaskStatus.OPEN


async def test_a_task_that_waits_says_why_once_until_the_reason_changes(world: FakeWorld) -> None:
    """It looks every few seconds: the log would hold nothing else."""
    reconciler = world.reconciler()
    with capture_logs() as said:
        for closed in ("a leak", "a leak", "a leak", "another leak", "another leak"):
            world.closed = closed
            await reconciler.handle(TASK.id)
        world.tracker.down = True
        for _ in range(3):
            await reconciler.handle(TASK.id)
        assert reconciler.waits == {TASK.id: "Polarion is down"}
        world.tracker.down = False
        await reconciler.handle(TASK.id)
        world.closed = ""
        await reconciler.handle(TASK.id)
        assert not reconciler.waits
    assert [(line["event"], line.get("reason") or line.get("error")) for line in said] == [
        ("waiting", "a leak"),
        ("waiting", "another leak"),
        ("step_postponed", "Polarion is down"),
        ("waiting", "another leak"),
    ]


async def test_what_fails_again_and_again_is_logged_once(world: FakeWorld) -> None:
    class Forbidding(FakeTracker):
        async def task(self, task: TaskId) -> Task | None:
            raise Forbidden(f"the service user may not read {task}")

    world.tracker = Forbidding()
    reconciler = world.reconciler()
    with capture_logs() as said:
        for _ in range(3):
            assert await reconciler.handle(TASK.id)
    assert [line["event"] for line in said] == ["step_failed"]


async def test_a_session_says_whose_commits_it_may_push_and_what_made_them(
    world: FakeWorld,
) -> None:
    first = await settle_down(world)
    world.tracker.tasks[TASK.id] = replace(TASK, status=TaskStatus.SENT_BACK)
    second = await settle_down(world)
    assert first
    assert second
    assert second.id != first.id
    assert second.session
    assert second.session.authorship == Authorship(
        "Rex", "bot-rex@agents.sandgate.invalid", second.model, frozenset({first.id, second.id})
    )
    assert (second.session.harness, second.session.image) == ("native", IMAGE)
    [*_, (_, env)] = world.sandboxes.started
    assert (env["GIT_AUTHOR_NAME"], env["SANDGATE_RUN"]) == ("Rex", second.id)
