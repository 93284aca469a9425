"""What a task shows of a run that is over."""

import pytest

from entrance.session import TaskId
from orchestrator.domain.handover import (
    ACTIONS,
    action_after,
    assignee_after,
    part_of,
    title_of,
)
from orchestrator.domain.plan import WAKES
from orchestrator.domain.run import Ending, Outcome
from orchestrator.domain.task import TaskStatus
from tests.fakes.clock import START
from tests.fakes.run import a_run

TASK = TaskId("DEMO/DEMO-7")
MOVED_BY_OTHERS = [one for one in TaskStatus if one not in {*WAKES, TaskStatus.IN_PROGRESS}]
HANDED_OVER = (Outcome.SUBMITTED, Outcome.ASKED, Outcome.DELEGATED)


def test_every_outcome_leaves_its_task_somewhere() -> None:
    assert set(ACTIONS) == set(Outcome)


@pytest.mark.parametrize("outcome", Outcome)
def test_a_task_in_progress_is_moved_by_one_action(outcome: Outcome) -> None:
    assert action_after(outcome, TaskStatus.IN_PROGRESS) == ACTIONS[outcome]


@pytest.mark.parametrize("status", WAKES)
def test_a_failed_task_does_not_start_again_by_itself(status: TaskStatus) -> None:
    for outcome in (Outcome.FAILED, Outcome.STOPPED):
        assert action_after(outcome, status) == "fail"
    for outcome in HANDED_OVER:
        assert action_after(outcome, status) == "", "people have dealt with it already"


@pytest.mark.parametrize("status", MOVED_BY_OTHERS)
@pytest.mark.parametrize("outcome", Outcome)
def test_what_others_moved_stays_where_it_is(outcome: Outcome, status: TaskStatus) -> None:
    assert action_after(outcome, status) == ""


def test_a_handover_gives_the_task_or_a_part_of_it() -> None:
    submitted = Ending(Outcome.SUBMITTED, "done", START)
    asked = Ending(Outcome.ASKED, "why?", START, given=TASK, to="lead")
    delegated = Ending(Outcome.DELEGATED, "yours", START, given="DEMO/DEMO-8", to="bot-max")
    given = [(assignee_after(one, TASK), part_of(one, TASK)) for one in (submitted, asked, None)]
    assert given == [("", ""), ("lead", ""), ("", "")]
    assert (assignee_after(delegated, TASK), part_of(delegated, TASK)) == ("", "DEMO/DEMO-8")


def test_the_comment_names_the_run_and_its_outcome() -> None:
    assert title_of(a_run().id, Outcome.ASKED).endswith(" asked")
