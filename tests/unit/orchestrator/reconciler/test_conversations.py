"""A later run of a task goes on with the conversation of an earlier one."""

from dataclasses import replace

from entrance.session import Ended, hash_token
from orchestrator.domain.task import TaskStatus
from orchestrator.harnesses import HARNESSES
from tests.fakes.sandboxes import FakeHarness
from tests.fakes.world import TASK, FakeWorld
from tests.unit.orchestrator.reconciler.driving import settle_down


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


async def test_what_goes_on_in_an_earlier_runs_place_has_its_grants_and_a_token_of_its_own(
    world: FakeWorld,
) -> None:
    """CASE-81: a disk and a conversation are all that comes back."""
    first = await settle_down(world)
    await send_back(world, "use spaces")
    again = await world.runs.latest(TASK.id)
    assert first
    assert again
    assert first.id != again.id
    assert first.session
    assert again.session
    tokens = [env["SANDGATE_RUN_TOKEN"] for _, env in world.sandboxes.started]
    assert len(set(tokens)) == 2
    assert world.door.find(hash_token(tokens[0])) == Ended(first.id)
    sessions = (first.session, again.session)
    assert [[one.run for one in s.repositories] for s in sessions] == [[first.id], [again.id]]
    granted = [
        (s.tools, [replace(one, run=first.id) for one in s.repositories], s.models)
        for s in sessions
    ]
    assert granted[0] == granted[1]
    assert {first.sandbox, again.sandbox} == {"sb-1", "sb-2"}


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
