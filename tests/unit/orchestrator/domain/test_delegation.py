"""What was delegated, and when all of it is over."""

from dataclasses import replace

import pytest

from entrance.session import TaskId
from orchestrator.domain.delegation import Part, all_over, parts_in
from orchestrator.domain.run import Ending, Outcome, Run
from orchestrator.domain.task import TaskStatus
from tests.fakes.clock import START
from tests.fakes.run import a_run
from tests.fakes.world import TASK

ONE, OTHER = TaskId("DEMO/DEMO-8"), TaskId("DEMO/DEMO-9")


def part(status: TaskStatus) -> Part:
    return Part(ONE, replace(TASK, id=ONE, status=status))


def delegating(given: TaskId, outcome: Outcome = Outcome.DELEGATED) -> Run:
    return a_run(outcome=outcome, ending=Ending(outcome, "", START, given=given, to="bot-max"))


def test_parts_are_those_of_all_runs_each_once_oldest_first() -> None:
    newest_first = [delegating(OTHER), delegating(ONE), delegating(OTHER), delegating(ONE)]
    assert parts_in(newest_first) == [ONE, OTHER]


def test_what_a_run_did_not_delegate_is_no_part() -> None:
    asked = delegating(TASK.id, Outcome.ASKED)
    assert parts_in([asked, a_run(), a_run(outcome=Outcome.DELEGATED)]) == []


@pytest.mark.parametrize("status", TaskStatus)
def test_a_part_is_over_when_it_is_done_or_failed(status: TaskStatus) -> None:
    assert part(status).over == (status in {TaskStatus.DONE, TaskStatus.FAILED})


def test_a_part_that_is_gone_is_over() -> None:
    assert Part(ONE).over


def test_all_is_over_when_each_is_and_nothing_never_is() -> None:
    done, open_ = part(TaskStatus.DONE), part(TaskStatus.OPEN)
    assert all_over([done, Part(OTHER)])
    assert not all_over([done, open_])
    assert not all_over([])
