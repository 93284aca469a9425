"""The reconciler with fakes: a task is brought to its end, whatever breaks in between."""

from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from entrance.errors import Forbidden, NotFound, Unavailable
from entrance.ports import Usage
from entrance.session import Ended, Envelope, RunId, TaskId, hash_token
from orchestrator.domain.briefing import TRIGGERS
from orchestrator.domain.run import Cause, Ending, Outcome, Run, RunState, Trigger, changed
from orchestrator.domain.task import Task, TaskStatus
from orchestrator.harnesses import HARNESSES
from orchestrator.ports import Completed, Sandbox
from tests.fakes.clock import START
from tests.fakes.run import a_run
from tests.fakes.runs import FakeRuns
from tests.fakes.sandboxes import FakeHarness, FakeSandboxes
from tests.fakes.tracker import FakeTracker
from tests.fakes.world import TASK, FakeWorld

SAYS = ['{"type":"started","model":"m"}', '{"type":"text","text":"hello"}', "no json"]


@pytest.fixture
def world(tmp_path: Path) -> FakeWorld:
    return FakeWorld(tmp_path, sandboxes=FakeSandboxes(FakeHarness(SAYS)))


async def settle_down(world: FakeWorld, *, most: int = 40) -> Run | None:
    """Handle the task until nothing is left to do; a crash starts a new process."""
    reconciler = world.reconciler()
    for _ in range(most):
        try:
            again = await reconciler.handle(TASK.id)
        except Crash:
            reconciler = world.reconciler()
            continue
        if again is None:
            break
        world.clock.advance(1)
    return await world.runs.latest(TASK.id)


class Crash(Exception):
    """The process dies here."""


class SubmittingSandboxes(FakeSandboxes):
    """The agent submits as soon as its harness is followed."""

    def __init__(self, world: FakeWorld) -> None:
        super().__init__(FakeHarness(SAYS))
        self._world = world

    async def renew(self, sandbox: Any) -> None:
        await super().renew(sandbox)
        run = await self._world.runs.latest(TASK.id)
        assert run
        if run.ending is None:
            ending = Ending(Outcome.SUBMITTED, "fixed", self._world.clock.now())
            await self._world.runs.replace(changed(run, ending=ending))
            await self._world.tracker.act(TASK.id, "submit")


async def kinds(world: FakeWorld, run: Run) -> list[str]:
    return [event.kind async for event in world.runs.events(run.id)]


async def test_a_submitted_task_ends_submitted_with_its_record_and_transcript(
    world: FakeWorld,
) -> None:
    world.sandboxes = SubmittingSandboxes(world)
    run = await settle_down(world)
    assert run
    assert (run.state, run.outcome, run.cause) == (
        RunState.ENDED,
        Outcome.SUBMITTED,
        Cause.HANDED_OVER,
    )
    assert world.tracker.records[run.record].run.outcome is Outcome.SUBMITTED
    assert b"hello" in world.tracker.attached[run.record, "transcript.jsonl"]
    assert world.tracker.tasks[TASK.id].status is TaskStatus.IN_REVIEW
    assert await kinds(world, run) == [
        "phase", "phase", "phase", "started", "text", "raw", "phase", "phase",
    ]  # fmt: skip
    assert not world.sandboxes.live
    assert not world.disks.mounted


async def test_a_harness_that_just_stops_fails_the_task_and_says_so(world: FakeWorld) -> None:
    run = await settle_down(world)
    assert run
    assert (run.outcome, run.cause) == (Outcome.FAILED, Cause.NO_HANDOVER)
    assert world.tracker.tasks[TASK.id].status is TaskStatus.FAILED
    assert [comment.title for comment in world.tracker.comments[TASK.id]] == [
        f"Run {run.id} failed"
    ]


async def test_the_token_is_in_the_harness_only_and_dies_with_the_run(world: FakeWorld) -> None:
    run = await settle_down(world)
    assert run
    _, env = world.sandboxes.started[0]
    token = env["SANDGATE_RUN_TOKEN"]
    assert token not in repr(run)
    assert world.door.find(hash_token(token)) == Ended(run.id)
    transcript = world.tracker.attached[run.record, "transcript.jsonl"]
    assert token.encode() not in transcript


async def test_a_delegated_task_is_done_with_the_money_of_the_run_that_delegated_it(
    world: FakeWorld,
) -> None:
    lender = a_run(state=RunState.ENDED)
    await world.runs.create(lender)
    world.tracker.tasks[TASK.id] = replace(TASK, delegated_by=lender.id)
    run = await settle_down(world)
    assert run
    assert run.session
    assert Envelope("run", lender.id, lender.budget_usd) in run.session.envelopes


async def test_a_lender_that_is_not_known_any_more_lends_nothing(world: FakeWorld) -> None:
    world.tracker.tasks[TASK.id] = replace(TASK, delegated_by=RunId("runthatislost00"))
    run = await settle_down(world)
    assert run
    assert run.session
    assert [one.kind for one in run.session.envelopes] == ["engagement"]


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


async def test_the_harness_is_told_what_a_company_gateway_speaks(world: FakeWorld) -> None:
    world.dialects = {"anthropic": "openai"}
    await settle_down(world)
    argv, _ = world.sandboxes.started[0]
    assert argv[argv.index("--dialect") + 1] == "openai"


async def test_a_clone_that_fails_fails_the_run_with_gits_words(world: FakeWorld) -> None:
    world.sandboxes.clone = Completed(128, "fatal: branch main not found")
    run = await settle_down(world)
    assert run
    assert run.cause is Cause.PREPARATION
    assert run.exit
    assert "branch main not found" in run.exit.detail
    assert not world.sandboxes.started
    assert not world.sandboxes.live


async def test_a_sandbox_that_is_not_what_was_asked_fails_the_run(world: FakeWorld) -> None:
    world.sandboxes.refuse = Forbidden("it is privileged")
    run = await settle_down(world)
    assert run
    assert (run.outcome, run.cause) == (Outcome.FAILED, Cause.PREPARATION)


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


async def test_a_later_run_goes_on_with_the_conversation_of_an_earlier_one(
    world: FakeWorld,
) -> None:
    world.sandboxes.harness.lines = ['{"type":"started","conversation":"c-1"}']
    await settle_down(world)
    world.sandboxes.kept.add(HARNESSES["native"].kept_at("c-1", "/workspace/thing"))
    await send_back(world, "use spaces")
    assert "use spaces" in prompt_of(world)
    assert TASK.description not in prompt_of(world)


async def test_a_conversation_that_is_gone_begins_anew(world: FakeWorld) -> None:
    world.sandboxes.harness.lines = ['{"type":"started","conversation":"c-1"}']
    await settle_down(world)
    await send_back(world, "use spaces")
    assert "use spaces" in prompt_of(world)
    assert TASK.description in prompt_of(world)


async def test_a_conversation_that_can_not_be_read_is_tried_once(world: FakeWorld) -> None:
    world.sandboxes.harness.lines = ['{"type":"started","conversation":"c-1"}']
    await settle_down(world)
    world.sandboxes.kept.add(HARNESSES["native"].kept_at("c-1", "/workspace/thing"))
    world.sandboxes.harness = FakeHarness(lines=["it is broken"], exit_code=1)
    await send_back(world, "use spaces")
    assert TASK.description not in prompt_of(world)
    await send_back(world, "use tabs")
    assert TASK.description in prompt_of(world)


async def send_back(world: FakeWorld, words: str) -> None:
    world.clock.advance(60)
    await world.tracker.comment(TASK.id, "No", words)
    world.tracker.tasks[TASK.id] = replace(
        world.tracker.tasks[TASK.id], status=TaskStatus.SENT_BACK
    )
    await settle_down(world)


def prompt_of(world: FakeWorld) -> str:
    return next(
        text.decode()
        for path, text in world.sandboxes.written.items()
        if path.endswith("prompt.md")
    )


async def test_what_a_harness_said_is_in_the_record_as_it_said_it(world: FakeWorld) -> None:
    run = await settle_down(world)
    assert run
    said = "".join(f"{line}\n" for line in SAYS)
    assert world.tracker.attached[run.record, "output.log"].decode() == said


async def test_a_harness_that_talks_without_end_is_followed_to_its_end(
    world: FakeWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("orchestrator.runner.outputs.MOST_LINES", 2)
    world.sandboxes.harness.lines = [*SAYS, '{"type":"ended","reason":"loop","detail":"again"}']
    run = await settle_down(world)
    assert run
    assert (run.cause, run.cursor) == (Cause.LOOP, 3)
    assert await kinds(world, run) == [
        "phase", "phase", "phase", "started", "text", "phase", "phase", "phase",
    ]  # fmt: skip
    assert world.tracker.attached[run.record, "output.log"].count(b"\n") == 2


async def test_a_failed_run_says_on_the_task_what_is_known_of_it(world: FakeWorld) -> None:
    at = "2026-01-05T09:00:00+00:00"
    world.trail += [
        {
            "seq": 1, "at": at, "kind": "model_call", "subject": "p:m", "decision": "allow",
            "reason": "", "detail": {},
        },
        {
            "seq": 2, "at": at, "kind": "outcome", "of": 1, "result": "failed",
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


@pytest.mark.parametrize(
    "words",
    [
        "error: RPC failed; The requested URL returned error: 503",
        "fatal: unable to access 'http://x/': Failed to connect to 10.0.0.1 port 8080",
        "fatal: early EOF",
    ],
)
async def test_a_git_host_that_is_away_for_a_moment_fails_no_run(
    world: FakeWorld, words: str
) -> None:
    world.sandboxes.clone = Completed(128, words)
    reconciler = world.reconciler()
    for _ in range(3):
        await reconciler.handle(TASK.id)
    run = await world.runs.latest(TASK.id)
    assert run
    assert run.state is RunState.PREPARING
    assert not world.sandboxes.live
    world.sandboxes.clone = Completed(0, "")
    run = await settle_down(world)
    assert run
    assert run.cause is Cause.NO_HANDOVER


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
            "seq": 1, "at": "2026-01-05T09:00:00+00:00", "kind": "model_call", "subject": "p:m",
            "decision": "deny", "reason": "no money", "detail": {"refused": "budget"},
        }
    )  # fmt: skip
    await world.reconciler().handle(TASK.id)
    run = await settle_down(world)
    assert run
    assert (run.outcome, run.cause) == (Outcome.STOPPED, Cause.BUDGET)


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


class Crashing:
    """Dies once, just before or just after the n-th change of the world."""

    def __init__(self, at: int, *, after: bool) -> None:
        self.left = at
        self.after = after

    def wrap(self, holder: object, name: str) -> None:
        inner = getattr(holder, name)

        async def call(*args: Any, **kwargs: Any) -> Any:
            self.left -= 1
            if self.left == 0 and not self.after:
                raise Crash
            result = await inner(*args, **kwargs)
            if self.left == 0 and self.after:
                self.left = -1
                raise Crash
            return result

        setattr(holder, name, call)


CHANGES = {
    "runs": ("create", "replace", "add_events"),
    "tracker": ("act", "comment", "record", "attach", "spent"),
    "sandboxes": ("create", "kill", "start", "write", "interrupt"),
    "disks": ("ensure", "release"),
}


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("at", range(1, 45))
async def test_a_crash_at_any_change_is_repaired_by_the_next_look(
    tmp_path: Path, at: int, *, after: bool
) -> None:
    world = FakeWorld(tmp_path)
    world.sandboxes = SubmittingSandboxes(world)
    crash = Crashing(at, after=after)
    for part, names in CHANGES.items():
        for name in names:
            crash.wrap(getattr(world, part), name)
    run = await settle_down(world, most=60)
    assert run
    assert run.state is RunState.ENDED
    assert run.outcome in {Outcome.SUBMITTED, Outcome.FAILED}
    assert len(await world.runs.recent(10)) == 1, "nothing is doubled"
    assert len(world.tracker.records) == 1
    assert run.record in world.tracker.records
    shown = {Outcome.SUBMITTED: TaskStatus.IN_REVIEW, Outcome.FAILED: TaskStatus.FAILED}
    assert world.tracker.tasks[TASK.id].status is shown[run.outcome]
    assert [one.title for one in world.tracker.comments[TASK.id]] == [f"Run {run.id} {run.outcome}"]
    assert not world.sandboxes.live, "no sandbox is left over"
    assert not world.disks.mounted
    seqs = [event.seq async for event in world.runs.events(run.id)]
    assert len(seqs) == len(set(seqs))


async def test_a_run_that_is_unknown_is_not_found(world: FakeWorld) -> None:
    with pytest.raises(NotFound):
        await world.world().amend(RunId("nope"), changed)


async def test_two_writers_never_share_an_event_number(world: FakeWorld) -> None:
    reconciler = world.reconciler()
    await reconciler.handle(TASK.id)
    run = await world.runs.latest(TASK.id)
    assert run
    steps = world.world()
    await steps.note(run.id, "phase", {"a": 1})
    await steps.note(run.id, "phase", {"a": 2})
    stored = [event.seq async for event in world.runs.events(run.id)]
    assert stored == list(range(len(stored)))


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


PART = replace(TASK, id=TaskId("DEMO/DEMO-8"), title="The part", assignees=("bot-max",))


@pytest.fixture
async def delegated(world: FakeWorld) -> FakeWorld:
    """The agent delegated a part of its task, and its run is over."""
    world.clock.advance(10 * 365 * 86400)  # after every run that `a_run` makes
    ending = Ending(Outcome.DELEGATED, "yours", START, given=PART.id, to="bot-max")
    run = a_run(
        task=TASK.id,
        agent="bot-rex",
        state=RunState.ENDED,
        outcome=Outcome.DELEGATED,
        ending=ending,
    )
    await world.runs.create(run)
    world.tracker.tasks[TASK.id] = replace(TASK, status=TaskStatus.WAITING_INPUT)
    world.tracker.tasks[PART.id] = replace(PART, status=TaskStatus.IN_REVIEW)
    return world


async def a_run_of_the_part(world: FakeWorld, **changes: Any) -> None:
    await world.runs.create(a_run(task=PART.id, agent="bot-max", state=RunState.ENDED, **changes))


async def test_a_part_that_is_not_over_leaves_its_task_waiting(delegated: FakeWorld) -> None:
    assert await delegated.reconciler().handle(TASK.id) is None
    assert len(await delegated.runs.recent(9)) == 1


async def test_the_end_of_a_part_wakes_the_agent_and_it_is_told_how_that_ended(
    delegated: FakeWorld,
) -> None:
    ending = Ending(Outcome.SUBMITTED, "I did the part.", START)
    await a_run_of_the_part(delegated, outcome=Outcome.SUBMITTED, ending=ending)
    delegated.tracker.tasks[PART.id] = replace(PART, status=TaskStatus.DONE)
    delegated.sandboxes.harness = FakeHarness(SAYS, exit_code=None)
    reconciler = delegated.reconciler()
    for _ in range(2):
        assert await reconciler.handle(TASK.id) == 0
    run = await delegated.runs.latest(TASK.id)
    assert run
    assert (run.trigger, run.state) == (Trigger.SUBTASK_DONE, RunState.RUNNING)
    assert delegated.tracker.tasks[TASK.id].status is TaskStatus.IN_PROGRESS
    prompt = b"".join(delegated.sandboxes.written.values()).decode()
    assert TRIGGERS[Trigger.SUBTASK_DONE] in prompt
    assert "DEMO/DEMO-8 done" in prompt
    assert "I did the part." in prompt


async def test_how_a_part_ended_is_said_once_whatever_breaks_in_between(
    delegated: FakeWorld,
) -> None:
    class Crashing(FakeRuns):
        crashes = 1

        async def create(self, run: Run) -> None:
            if run.trigger is Trigger.SUBTASK_DONE and self.crashes:
                self.crashes -= 1
                raise Crash
            await super().create(run)

    runs = Crashing()
    for run in reversed(await delegated.runs.recent(9)):
        await runs.create(run)
    delegated.runs = runs
    await a_run_of_the_part(delegated, outcome=Outcome.FAILED, cause=Cause.OOM)
    delegated.tracker.tasks[PART.id] = replace(PART, status=TaskStatus.FAILED)
    await settle_down(delegated)
    titles = [one.title for one in delegated.tracker.comments[TASK.id]]
    assert titles.count("DEMO/DEMO-8 failed") == 1


async def test_a_task_that_can_not_be_gone_on_with_fails_and_is_not_woken_for_ever(
    delegated: FakeWorld,
) -> None:
    del delegated.tracker.tasks[PART.id]
    delegated.sandboxes.refuse = Forbidden("it is not what was asked for")
    run = await settle_down(delegated)
    assert run
    assert (run.trigger, run.outcome) == (Trigger.SUBTASK_DONE, Outcome.FAILED)
    assert delegated.tracker.tasks[TASK.id].status is TaskStatus.FAILED
    assert len(await delegated.runs.recent(9, TASK.id)) == 2
