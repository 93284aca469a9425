"""plan(): given this world, expect exactly this step."""

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import pytest

from entrance.session import TaskId
from orchestrator.domain.delegation import Part
from orchestrator.domain.egress import Unreadable
from orchestrator.domain.plan import (
    Finish,
    Follow,
    Idle,
    Observed,
    Prepare,
    Refuse,
    SandboxState,
    Settle,
    StartRun,
    Step,
    Wait,
    plan,
)
from orchestrator.domain.run import Cause, Exit, Outcome, Run, RunState, Trigger
from orchestrator.domain.task import TaskStatus
from tests.fakes.clock import START
from tests.fakes.run import a_run
from tests.fakes.world import AGENT, ENGAGEMENT, TASK

NEVER = START + timedelta(days=365)


def run_in(state: RunState, **changes: object) -> Run:
    return a_run(task=TASK.id, state=state, deadline_at=NEVER, **changes)


SEEN = Observed(
    now=START,
    task=TASK,
    run=None,
    engagement=ENGAGEMENT,
    agent=AGENT,
    harnesses=frozenset({"native"}),
)
WAITING = replace(
    SEEN,
    task=replace(TASK, status=TaskStatus.WAITING_INPUT),
    run=run_in(RunState.ENDED, outcome=Outcome.DELEGATED),
)
DONE = Part(TaskId("DEMO/DEMO-8"), replace(TASK, status=TaskStatus.DONE))
OPEN = Part(TaskId("DEMO/DEMO-9"), replace(TASK, status=TaskStatus.IN_REVIEW))
SPENT = replace(ENGAGEMENT, spent_usd=ENGAGEMENT.budget_usd)
CANCELLED = Finish(Exit(None, Cause.CANCELLED, "cancelled by lead"))


@pytest.mark.parametrize(
    ("seen", "step"),
    [
        pytest.param(SEEN, StartRun(Trigger.ASSIGNED), id="an open task starts a run"),
        pytest.param(
            replace(SEEN, task=replace(TASK, status=TaskStatus.SENT_BACK)),
            StartRun(Trigger.SENT_BACK),
            id="a task sent back starts a run",
        ),
        pytest.param(
            replace(SEEN, task=replace(TASK, status=TaskStatus.ANSWERED)),
            StartRun(Trigger.ANSWERED),
            id="an answered task starts a run",
        ),
        pytest.param(
            replace(SEEN, task=replace(TASK, status=TaskStatus.IN_REVIEW)),
            Idle(),
            id="a task in review waits for a person",
        ),
        pytest.param(
            replace(SEEN, task=replace(TASK, status=TaskStatus.OTHER)),
            Idle(),
            id="an unknown status is left alone",
        ),
        pytest.param(replace(SEEN, task=None), Idle(), id="a deleted task is left alone"),
        pytest.param(
            replace(WAITING, parts=(DONE,)),
            StartRun(Trigger.SUBTASK_DONE),
            id="what was delegated is done",
        ),
        pytest.param(
            replace(WAITING, parts=(DONE, replace(DONE, task=None))),
            StartRun(Trigger.SUBTASK_DONE),
            id="one part is done, the other gone",
        ),
        pytest.param(
            replace(WAITING, parts=(DONE, OPEN)), Idle(), id="a part is not over: its task waits"
        ),
        pytest.param(WAITING, Idle(), id="a task that waits for no part waits for a person"),
        pytest.param(
            replace(WAITING, run=run_in(RunState.ENDED, outcome=Outcome.ASKED), parts=(DONE,)),
            Idle(),
            id="the newest run asked: an older part doesn't answer it",
        ),
        pytest.param(
            replace(WAITING, parts=(DONE,), agent_busy=True),
            Wait("bot-rex is busy with another task"),
            id="what was delegated is done, but its agent is busy",
        ),
        pytest.param(replace(SEEN, engagement=None), Idle(), id="nobody was hired"),
        pytest.param(
            replace(SEEN, closed="leaks"), Wait("leaks"), id="a leaking network starts nothing"
        ),
        pytest.param(
            replace(SEEN, agent_busy=True),
            Wait("bot-rex is busy with another task"),
            id="one run per agent",
        ),
        pytest.param(
            replace(SEEN, frozen="look at it", run=run_in(RunState.ENDED)),
            Wait("look at it"),
            id="while the task's sandbox is frozen no run starts",
        ),
        *(
            pytest.param(
                replace(SEEN, frozen="look at it", run=run_in(state, cancelled_by="lead")),
                Finish(Exit(None, Cause.HONEYTOKEN, "look at it")),
                id=f"a run that is {state} ends when its sandbox is frozen",
            )
            for state in (RunState.QUEUED, RunState.PREPARING, RunState.RUNNING)
        ),
        pytest.param(
            replace(SEEN, frozen="look at it", run=run_in(RunState.SETTLING)),
            Settle(),
            id="a run settles whose sandbox is frozen",
        ),
        pytest.param(
            replace(SEEN, run=run_in(RunState.ENDED)),
            StartRun(Trigger.ASSIGNED),
            id="an ended run doesn't stop the next one",
        ),
        pytest.param(
            replace(SEEN, run=run_in(RunState.QUEUED)), Prepare(), id="queued is prepared"
        ),
        pytest.param(
            replace(SEEN, run=run_in(RunState.QUEUED), closed="leaks"),
            Wait("leaks"),
            id="a queued run waits while the network leaks",
        ),
        pytest.param(
            replace(SEEN, run=run_in(RunState.PREPARING)),
            Prepare(),
            id="preparing starts over after a crash",
        ),
        pytest.param(
            replace(SEEN, run=run_in(RunState.PREPARING), now=NEVER),
            Finish(Exit(None, Cause.DEADLINE, "the deadline passed while preparing")),
            id="preparing has a deadline",
        ),
        pytest.param(
            replace(SEEN, run=run_in(RunState.RUNNING), sandbox=SandboxState.LIVE),
            Follow(),
            id="a live harness is followed",
        ),
        pytest.param(
            replace(SEEN, run=run_in(RunState.RUNNING), sandbox=SandboxState.LIVE, closed="leaks"),
            Follow(),
            id="a running run isn't cut by a late probe",
        ),
        pytest.param(
            replace(SEEN, run=run_in(RunState.RUNNING), sandbox=SandboxState.LOST),
            Finish(Exit(None, Cause.SANDBOX_LOST, "the sandbox is lost")),
            id="CASE-89 a lost sandbox ends the run",
        ),
        pytest.param(
            replace(SEEN, run=run_in(RunState.RUNNING, cancelled_by="lead")),
            CANCELLED,
            id="a cancelled run is ended, whatever its sandbox does",
        ),
        pytest.param(
            replace(SEEN, run=run_in(RunState.QUEUED, cancelled_by="lead")),
            CANCELLED,
            id="a queued run can be cancelled",
        ),
        pytest.param(
            replace(SEEN, run=run_in(RunState.SETTLING)), Settle(), id="settling is settled"
        ),
        pytest.param(
            replace(SEEN, run=run_in(RunState.SETTLING), task=None, engagement=None),
            Settle(),
            id="a run is settled although its task is gone",
        ),
    ],
)
def test_plan_gives_the_one_next_step(seen: Observed, step: Step) -> None:
    assert plan(seen) == step


@pytest.mark.parametrize(
    ("seen", "word"),
    [
        pytest.param(replace(SEEN, agent=None), "No agent", id="no agent"),
        pytest.param(replace(SEEN, engagement=SPENT), "is spent", id="no budget"),
        pytest.param(
            replace(SEEN, agent=replace(AGENT, model="anthropic:other")),
            "doesn't grant the model",
            id="model not granted",
        ),
        pytest.param(
            replace(SEEN, agent=replace(AGENT, harness="codex")),
            "`sandgate up --harness codex`",
            id="harness not in any sandbox here",
        ),
        pytest.param(
            replace(SEEN, unspoken="codex can't talk to it"),
            "codex can't talk to it, then retry.",
            id="harness that doesn't speak the model's API",
        ),
        pytest.param(
            replace(SEEN, task=replace(TASK, repository="http://git.example/other.git")),
            "doesn't grant the repository",
            id="repository not granted",
        ),
        pytest.param(
            replace(SEEN, engagement=replace(ENGAGEMENT, egress=Unreadable("egress of X, line 3"))),
            "egress of X, line 3",
            id="the engagement's egress policy can't be read",
        ),
        pytest.param(
            replace(SEEN, agent=replace(AGENT, egress=Unreadable("egress of Y, line 1"))),
            "egress of Y, line 1",
            id="the agent's egress policy can't be read",
        ),
        pytest.param(
            replace(SEEN, engagement=replace(ENGAGEMENT, pushes=Unreadable("pushes of X, line 3"))),
            "pushes of X, line 3",
            id="what is asked of its pushes can't be read",
        ),
    ],
)
def test_what_can_not_be_run_is_refused_with_a_sentence(seen: Observed, word: str) -> None:
    step = plan(seen)
    assert isinstance(step, Refuse)
    assert word in step.reason
    assert "retry" in step.reason


def test_what_is_left_of_a_budget_never_goes_below_zero() -> None:
    assert replace(SPENT, spent_usd=Decimal(99)).left_usd == 0
