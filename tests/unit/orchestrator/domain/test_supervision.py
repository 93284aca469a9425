"""What people may decide about a task, and what it is said to wait for."""

from dataclasses import replace

import pytest

from entrance.session import TaskId
from orchestrator.domain.delegation import Part
from orchestrator.domain.plan import WAKES
from orchestrator.domain.run import RunState
from orchestrator.domain.supervision import (
    RULES,
    Decision,
    Standing,
    conflict_of,
    waits_for,
    words_of,
)
from orchestrator.domain.task import TaskStatus
from polarion_app.config import load
from tests.fakes.run import a_run
from tests.fakes.world import ENGAGEMENT, TASK

RUN = a_run(task=TASK.id, agent="bot-rex", state=RunState.ENDED)
SEEN = Standing(TASK, RUN, ENGAGEMENT)


def with_status(status: TaskStatus, seen: Standing = SEEN) -> Standing:
    return replace(seen, task=replace(seen.task, status=status))


def test_each_decision_is_an_action_of_the_workflow_that_no_agent_may_do() -> None:
    actions = {one.id: one for one in load().types["task"].actions}
    for rule in RULES.values():
        action = actions[rule.action]
        assert str(rule.source) in action.sources
        assert action.roles
        assert "agent" not in action.roles
        assert rule.wakes == (TaskStatus(action.target) in WAKES)


@pytest.mark.parametrize("decision", Decision)
def test_a_decision_is_for_one_status(decision: Decision) -> None:
    for status in TaskStatus:
        why = conflict_of(decision, replace(TASK, status=status))
        assert bool(why) == (status is not RULES[decision].source)


def test_a_decision_that_can_not_be_made_says_where_the_task_is() -> None:
    assert conflict_of(Decision.APPROVE, TASK) == (
        "DEMO/DEMO-7 is open: approve is for a task that is in review"
    )
    assert "is in a status of its own" in conflict_of(
        Decision.RETRY, replace(TASK, status=TaskStatus.OTHER)
    )


@pytest.mark.parametrize(
    ("status", "waits"),
    [
        (TaskStatus.IN_REVIEW, "lead: approve it, or send it back"),
        (TaskStatus.WAITING_INPUT, "lead: answer it"),
        (TaskStatus.FAILED, "lead: have it tried again"),
        (TaskStatus.IN_PROGRESS, "lead: it is in progress, but no run of it goes on"),
        (TaskStatus.DONE, ""),
        (TaskStatus.OTHER, ""),
    ],
)
def test_between_runs_a_task_waits_for_its_supervisor(status: TaskStatus, waits: str) -> None:
    assert waits_for(with_status(status)) == waits


def test_one_whose_engagement_is_over_waits_for_somebody() -> None:
    seen = with_status(TaskStatus.FAILED, replace(SEEN, engagement=None))
    assert waits_for(seen) == "a person: have it tried again"


@pytest.mark.parametrize("status", WAKES)
def test_a_task_for_an_agent_waits_for_what_the_runner_says(status: TaskStatus) -> None:
    held = replace(SEEN, held="bot-rex is busy with another task")
    assert waits_for(with_status(status, held)) == "bot-rex is busy with another task"
    assert waits_for(with_status(status)) == "the runner's next look"
    nobody = with_status(status, replace(SEEN, engagement=None))
    assert waits_for(nobody) == "an agent: it is assigned to none that is hired into DEMO"


def test_a_run_that_goes_on_waits_only_if_the_runner_holds_it() -> None:
    going_on = replace(SEEN, run=replace(RUN, state=RunState.PREPARING))
    assert waits_for(with_status(TaskStatus.IN_PROGRESS, going_on)) == ""
    held = replace(going_on, held="OpenSandbox can't be reached")
    assert waits_for(held) == "OpenSandbox can't be reached"


def test_what_was_delegated_is_waited_for() -> None:
    part = replace(TASK, id=TaskId("DEMO/DEMO-9"), status=TaskStatus.IN_REVIEW)
    over = replace(TASK, id=TaskId("DEMO/DEMO-8"), status=TaskStatus.DONE)
    parts = tuple(Part(one.id, one) for one in (over, part))
    seen = with_status(TaskStatus.WAITING_INPUT, replace(SEEN, parts=parts))
    assert waits_for(seen) == "DEMO/DEMO-9, which was delegated and is in review"


def test_the_agent_is_who_has_it_or_had_it_last() -> None:
    other = replace(ENGAGEMENT, bot="bot-max")
    assert replace(SEEN, run=None).agent == "bot-rex"
    assert replace(SEEN, run=None, engagement=None).agent == ""
    given_back = replace(SEEN, task=replace(TASK, assignees=("lead",)), engagement=other)
    assert given_back.agent == "bot-rex", "its run's"
    reassigned = replace(SEEN, task=replace(TASK, assignees=("bot-max",)), engagement=other)
    assert reassigned.agent == "bot-max"


def test_every_status_has_words() -> None:
    assert all(words_of(status) for status in TaskStatus)
