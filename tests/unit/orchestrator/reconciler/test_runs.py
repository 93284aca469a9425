"""A run from its task to its record."""

import pytest

from entrance.errors import Forbidden, NotFound
from entrance.session import Ended, RunId, hash_token
from orchestrator.domain.run import Cause, Outcome, RunState, changed
from orchestrator.domain.task import TaskStatus
from orchestrator.ports import Completed
from tests.fakes.world import TASK, FakeWorld
from tests.unit.orchestrator.reconciler.driving import SAYS, SubmittingSandboxes, kinds, settle_down


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


async def test_a_record_has_the_attestations_of_what_was_pushed(world: FakeWorld) -> None:
    file = world.folder / "0000000003-aaaaaaaaaaaaaaaa.json"
    file.write_text("signed")
    world.attested = [file]
    run = await settle_down(world)
    assert run
    assert world.tracker.attached[run.record, f"attestation-{file.name}"] == b"signed"


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


async def test_a_sandbox_that_is_not_what_was_asked_fails_the_run(world: FakeWorld) -> None:
    world.sandboxes.refuse = Forbidden("it is privileged")
    run = await settle_down(world)
    assert run
    assert (run.outcome, run.cause) == (Outcome.FAILED, Cause.PREPARATION)


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
