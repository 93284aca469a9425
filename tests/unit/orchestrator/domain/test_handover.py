"""What a task shows of a run that is over."""

from dataclasses import replace

import pytest

from entrance.session import RunId, TaskId
from orchestrator.domain.delegation import Part
from orchestrator.domain.handover import (
    ACTIONS,
    action_after,
    assignee_after,
    part_of,
    proposed_in_words,
    title_of,
    told,
    work_in_words,
)
from orchestrator.domain.plan import WAKES
from orchestrator.domain.run import Cause, Ending, Outcome, PullRequest, Tried, Trigger, Work
from orchestrator.domain.task import TaskStatus
from tests.fakes.clock import START
from tests.fakes.run import a_run
from tests.fakes.world import TASK as TASK_ITSELF

TASK = TaskId("DEMO/DEMO-7")
MOVED_BY_OTHERS = [one for one in TaskStatus if one not in {*WAKES, TaskStatus.IN_PROGRESS}]
HANDED_OVER = (Outcome.SUBMITTED, Outcome.ASKED, Outcome.DELEGATED, Outcome.HELD)


def test_every_outcome_leaves_its_task_somewhere() -> None:
    assert set(ACTIONS) == set(Outcome)


@pytest.mark.parametrize("outcome", Outcome)
def test_a_task_in_progress_is_moved_by_one_action(outcome: Outcome) -> None:
    assert action_after(outcome, TaskStatus.IN_PROGRESS, Trigger.ASSIGNED) == ACTIONS[outcome]


@pytest.mark.parametrize("status", WAKES)
def test_a_failed_task_does_not_start_again_by_itself(status: TaskStatus) -> None:
    for outcome in (Outcome.FAILED, Outcome.STOPPED):
        assert action_after(outcome, status, Trigger.ASSIGNED) == "fail"
    for outcome in HANDED_OVER:
        assert action_after(outcome, status, Trigger.ASSIGNED) == "", (
            "people have dealt with it already"
        )


def test_a_run_that_was_woken_by_a_part_and_never_began_fails_its_task() -> None:
    """Else it would be woken again, and again."""
    waiting = TaskStatus.WAITING_INPUT
    for outcome in Outcome:
        action = action_after(outcome, waiting, Trigger.SUBTASK_DONE)
        assert action == ("" if outcome in HANDED_OVER else "fail")


@pytest.mark.parametrize("status", MOVED_BY_OTHERS)
@pytest.mark.parametrize("outcome", Outcome)
def test_what_others_moved_stays_where_it_is(outcome: Outcome, status: TaskStatus) -> None:
    assert action_after(outcome, status, Trigger.ASSIGNED) == ""


def test_a_handover_gives_the_task_or_a_part_of_it() -> None:
    submitted = Ending(Outcome.SUBMITTED, "done", START)
    asked = Ending(Outcome.ASKED, "why?", START, given=TASK, to="lead")
    delegated = Ending(Outcome.DELEGATED, "yours", START, given="DEMO/DEMO-8", to="bot-max")
    given = [(assignee_after(one, TASK), part_of(one, TASK)) for one in (submitted, asked, None)]
    assert given == [("", ""), ("lead", ""), ("", "")]
    assert (assignee_after(delegated, TASK), part_of(delegated, TASK)) == ("", "DEMO/DEMO-8")


PART = replace(TASK_ITSELF, id=TaskId("DEMO/DEMO-8"), title="The\npart", status=TaskStatus.DONE)


@pytest.mark.parametrize(
    ("part", "title", "words"),
    [
        pytest.param(Part(PART.id), "DEMO/DEMO-8 is gone", ["was deleted"], id="deleted"),
        pytest.param(
            Part(PART.id, PART), "DEMO/DEMO-8 done", ["delegated is done: The part"], id="no run"
        ),
        pytest.param(
            Part(
                PART.id,
                PART,
                a_run(agent="bot-max", ending=Ending(Outcome.SUBMITTED, "I did.", START)),
            ),
            "DEMO/DEMO-8 done",
            ["delegated is done: The part", "bot-max said at last:", "I did."],
            id="done",
        ),
        pytest.param(
            Part(
                PART.id,
                replace(PART, status=TaskStatus.FAILED),
                a_run(outcome=Outcome.FAILED, cause=Cause.OOM),
            ),
            "DEMO/DEMO-8 failed",
            ["delegated is failed: The part", "The kernel killed something"],
            id="failed",
        ),
    ],
)
def test_of_a_part_it_is_told_how_it_ended(part: Part, title: str, words: list[str]) -> None:
    head, text = told(part)
    assert head == title
    assert all(one in text for one in words), text


def test_the_comment_names_the_run_and_its_outcome() -> None:
    assert title_of(a_run().id, Outcome.ASKED).endswith(" asked")


def test_what_was_submitted_is_said_in_whole_and_what_was_not_said_is_left_out() -> None:
    tests = (Tried("make test", "passed", "12 of 12"), Tried("make e2e", "not_run"))
    assert work_in_words(Work("I did it.")) == "I did it."
    assert work_in_words(Work("I did it.", "agent/DEMO-7/x", tests, "Windows.")) == (
        "I did it.\n\nTests:\n- make test: passed (12 of 12)\n- make e2e: not_run\n\n"
        "Not verified: Windows.\n\nBranch: agent/DEMO-7/x"
    )


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (PullRequest("a/b", 1, "https://h/pull/1"), "a/b is proposed: https://h/pull/1"),
        (PullRequest("a/b", none="no such branch", failed=True), "sandgate run propose run-1"),
        (PullRequest("a/b", none="a plain host has none"), None),
    ],
)
def test_a_pull_request_is_told_when_it_is_there_or_could_not_be(
    made: PullRequest, words: str | None
) -> None:
    said = proposed_in_words(RunId("run-1"), made)
    assert said is None if words is None else said is not None and words in said[1]
