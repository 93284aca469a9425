"""The task shows how its run ended, whatever was done of it already."""

from dataclasses import replace
from pathlib import Path

import pytest

from entrance.errors import Malformed, Unavailable
from entrance.session import TaskId
from orchestrator.domain.run import CAUSES, Cause, Ending, Exit, Outcome, Run
from orchestrator.domain.task import Task, TaskStatus
from orchestrator.runner.show import show
from tests.fakes.clock import START
from tests.fakes.run import a_run
from tests.fakes.tracker import FakeTracker
from tests.fakes.world import AGENT, ENGAGEMENT, TASK, FakeWorld

PART = replace(TASK, id=TaskId("DEMO/DEMO-8"), assignees=())
SUBMITTED = Ending(Outcome.SUBMITTED, "I fixed it.", START)
ASKED = Ending(Outcome.ASKED, "1. Which one?", START, given=TASK.id, to="lead")
DELEGATED = Ending(Outcome.DELEGATED, "Delegated.", START, given=PART.id, to="bot-max")
STATUS = {
    Outcome.SUBMITTED: TaskStatus.IN_REVIEW,
    Outcome.ASKED: TaskStatus.WAITING_INPUT,
    Outcome.DELEGATED: TaskStatus.WAITING_INPUT,
}


@pytest.fixture
def world(tmp_path: Path) -> FakeWorld:
    working = replace(TASK, status=TaskStatus.IN_PROGRESS)
    tracker = FakeTracker(tasks=[working, PART], agents=[AGENT], engagements=[ENGAGEMENT])
    return FakeWorld(tmp_path, tracker=tracker)


def handed_over(ending: Ending) -> Run:
    return a_run(
        task=TASK.id,
        agent=AGENT.bot,
        engagement=ENGAGEMENT.id,
        ending=ending,
        outcome=ending.outcome,
        cause=Cause.HANDED_OVER,
    )


def failed(outcome: Outcome = Outcome.FAILED) -> Run:
    how = Exit(None, Cause.PREPARATION, "no clone")
    run = handed_over(Ending(outcome, "", START))
    return replace(run, ending=None, exit=how, cause=how.cause, record="DEMO/DEMO-R1")


def task_in(world: FakeWorld, task: Task = TASK) -> Task:
    return world.tracker.tasks[task.id]


def said(world: FakeWorld) -> list[tuple[str, str]]:
    return [(one.author, one.text) for one in world.tracker.comments[TASK.id]]


@pytest.mark.parametrize("ending", [SUBMITTED, ASKED, DELEGATED], ids=lambda one: str(one.outcome))
async def test_a_handover_that_nobody_saw_is_made_up_for_once(
    world: FakeWorld, ending: Ending
) -> None:
    """The process died between noting it and telling Polarion."""
    run = handed_over(ending)
    for _ in range(2):
        await show(world.world(), run)
        assert task_in(world).status is STATUS[ending.outcome]
        [(author, text)] = said(world)
        assert author == "runner"
        assert text == f"bot-rex ended its run with these words:\n\n{ending.summary}"
    assert task_in(world).assignees == (("lead",) if ending is ASKED else TASK.assignees)
    assert task_in(world, PART).assignees == (("bot-max",) if ending is DELEGATED else ())


@pytest.mark.parametrize("ending", [SUBMITTED, ASKED, DELEGATED], ids=lambda one: str(one.outcome))
async def test_what_the_agents_call_did_already_is_left_alone(
    world: FakeWorld, ending: Ending
) -> None:
    run = handed_over(ending)
    title = f"Run {run.id} {ending.outcome}"
    world.tracker.tasks[TASK.id] = replace(TASK, status=STATUS[ending.outcome])
    world.tracker.tasks[PART.id] = replace(PART, assignees=("bot-max",))
    world.tracker.say(TASK.id, AGENT.bot, title, ending.summary)
    before = dict(world.tracker.tasks)
    await show(world.world(), run)
    assert world.tracker.tasks == before
    assert said(world) == [(AGENT.bot, ending.summary)]


async def test_only_the_missing_half_is_made_up_for(world: FakeWorld) -> None:
    """The action was done, and then the connection broke."""
    run = handed_over(DELEGATED)
    world.tracker.tasks[TASK.id] = replace(TASK, status=TaskStatus.WAITING_INPUT)
    await show(world.world(), run)
    assert len(said(world)) == 1
    assert task_in(world, PART).assignees == ("bot-max",)


async def test_another_ones_words_under_the_title_do_not_count(world: FakeWorld) -> None:
    run = handed_over(SUBMITTED)
    world.tracker.say(TASK.id, "bot-max", f"Run {run.id} submitted", "I did it!")
    await show(world.world(), run)
    assert [author for author, _ in said(world)] == ["bot-max", "runner"]


@pytest.mark.parametrize("outcome", [Outcome.FAILED, Outcome.STOPPED])
@pytest.mark.parametrize("status", [TaskStatus.OPEN, TaskStatus.SENT_BACK, TaskStatus.IN_PROGRESS])
async def test_a_run_without_a_handover_fails_its_task_and_says_why(
    world: FakeWorld, outcome: Outcome, status: TaskStatus
) -> None:
    world.tracker.tasks[TASK.id] = replace(TASK, status=status)
    for _ in range(2):
        await show(world.world(), failed(outcome))
    assert task_in(world).status is TaskStatus.FAILED
    why = f"The run ended {outcome} (preparation): {CAUSES[Cause.PREPARATION]}"
    assert {text for _, text in said(world)} == {f"{why}\nHow: no clone\nRecord: DEMO/DEMO-R1"}


async def test_what_people_decided_meanwhile_stays(world: FakeWorld) -> None:
    world.tracker.tasks[TASK.id] = replace(TASK, status=TaskStatus.DONE, assignees=("lead",))
    await show(world.world(), failed())
    assert (task_in(world).status, task_in(world).assignees) == (TaskStatus.DONE, ("lead",))
    assert len(said(world)) == 1


async def test_a_task_that_is_gone_holds_nothing_up(world: FakeWorld) -> None:
    world.tracker.tasks.clear()
    await show(world.world(), handed_over(SUBMITTED))
    assert said(world) == []


async def test_a_part_that_is_gone_holds_nothing_up(world: FakeWorld) -> None:
    del world.tracker.tasks[PART.id]
    await show(world.world(), handed_over(DELEGATED))
    assert task_in(world).status is TaskStatus.WAITING_INPUT


async def test_an_action_that_can_never_be_done_holds_nothing_up(world: FakeWorld) -> None:
    """Somebody took the task away from the agent: submitting wants an assignee."""
    world.tracker.tasks[TASK.id] = replace(TASK, status=TaskStatus.IN_PROGRESS, assignees=())
    await show(world.world(), handed_over(SUBMITTED))
    assert task_in(world).status is TaskStatus.IN_PROGRESS
    assert len(said(world)) == 1, "people read it all the same"


class Refusing(FakeTracker):
    """Takes no comments."""

    async def comment(self, task: TaskId, title: str, text: str) -> None:
        raise Malformed("no such words here")


async def test_words_that_polarion_never_takes_hold_nothing_up(world: FakeWorld) -> None:
    world.tracker = Refusing(tasks=[replace(TASK, status=TaskStatus.IN_PROGRESS)])
    await show(world.world(), failed())
    assert task_in(world).status is TaskStatus.FAILED


async def test_an_outage_is_waited_out(world: FakeWorld) -> None:
    world.tracker.down = True
    with pytest.raises(Unavailable):
        await show(world.world(), handed_over(SUBMITTED))
