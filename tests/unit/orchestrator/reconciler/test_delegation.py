"""What an agent gave to others: who pays for it, and what its end does."""

from dataclasses import replace
from typing import Any

import pytest

from entrance.errors import Forbidden
from entrance.session import Envelope, RunId, TaskId
from orchestrator.domain.briefing import TRIGGERS
from orchestrator.domain.run import Cause, Ending, Outcome, Run, RunState, Trigger
from orchestrator.domain.task import TaskStatus
from tests.fakes.clock import START
from tests.fakes.run import a_run
from tests.fakes.runs import FakeRuns
from tests.fakes.sandboxes import FakeHarness
from tests.fakes.world import TASK, FakeWorld
from tests.unit.orchestrator.reconciler.driving import SAYS, Crash, settle_down


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
