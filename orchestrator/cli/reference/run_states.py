"""`docs/reference/run-states.md`, from the tables of `domain.run` and `domain.plan` [pure]."""

from collections.abc import Iterator

from orchestrator.cli.reference.markdown import code, page, states, table
from orchestrator.domain.briefing import TRIGGERS
from orchestrator.domain.plan import WAKES
from orchestrator.domain.run import CAUSES, STATES, TRANSITIONS, Outcome, RunState, Trigger
from orchestrator.domain.task import TaskStatus

OUTCOMES = {
    Outcome.SUBMITTED: "The agent handed its work in; the task waits for approval.",
    Outcome.ASKED: "The agent asked; the task waits for answers.",
    Outcome.DELEGATED: "The agent gave a part to another one; the task waits until it is over, or answered.",
    Outcome.HELD: "Something of the agent waits for a decision, and the task with it.",
    Outcome.FAILED: "The run ended without a handover, by itself or of what the cause names.",
    Outcome.STOPPED: "The run was ended: cancelled, out of time, or out of budget.",
}
INTRO = """\
A run is one attempt of one agent at one task.
It is always in one state, moves only along the transitions below, and ends with an outcome and a cause."""
CAUSE_INTRO = """\
The agent's own words decide nothing: a recorded handover does, then what the runner did to the run,
then the host's counters, and the exit code of the harness last."""
TRIGGER_INTRO = """\
A run is started when a task that is assigned to a hired agent is in one of these statuses.
`waiting_input` counts if the newest run delegated a part, once every part is done, failed or gone;
what an agent asked is given to its supervisor, who gives it back with the answer."""


def run_states() -> str:
    """The page."""
    return page(
        "Run states",
        INTRO,
        "## States",
        states(_edges()),
        table(("state", "meaning"), ((code(state), words) for state, words in STATES.items())),
        "## Transitions",
        table(
            ("from", "event", "to"),
            (
                (code(source), code(event), code(target))
                for (source, event), target in TRANSITIONS.items()
            ),
        ),
        "## Outcomes",
        table(("outcome", "meaning"), ((code(one), OUTCOMES[one]) for one in Outcome)),
        "## Causes",
        CAUSE_INTRO,
        table(("cause", "meaning"), ((code(cause), words) for cause, words in CAUSES.items())),
        "## Triggers",
        TRIGGER_INTRO,
        table(
            ("task status", "trigger", "what the agent is told"),
            ((code(status), code(trigger), TRIGGERS[trigger]) for status, trigger in woken()),
        ),
    )


def woken() -> Iterator[tuple[TaskStatus, Trigger]]:
    """In which status a task is woken, by which trigger."""
    yield from WAKES.items()
    yield TaskStatus.WAITING_INPUT, Trigger.SUBTASK_DONE


def _edges() -> Iterator[tuple[str, str, str]]:
    yield "[*]", str(RunState.QUEUED), ""
    for (source, event), target in TRANSITIONS.items():
        yield str(source), str(target), str(event)
    yield str(RunState.ENDED), "[*]", ""
