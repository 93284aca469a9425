"""What a task shows of a run that is over: its status, who has it next, and what is said [pure].

The agent's own tool does it in the moment of the handover; whoever settles the run does what is
still missing. Both read it from here.
"""

from collections.abc import Mapping
from typing import Any

from entrance.session import RunId, TaskId
from orchestrator.domain.delegation import Part
from orchestrator.domain.plan import WAKES
from orchestrator.domain.run import CAUSES, Ending, Outcome, PullRequest, Run, Trigger, Work
from orchestrator.domain.task import TaskStatus
from orchestrator.domain.verdict import DISK_FULL_BYTES

ACTIONS: Mapping[Outcome, str] = {
    Outcome.SUBMITTED: "submit",
    Outcome.ASKED: "ask",
    Outcome.DELEGATED: "wait",
    Outcome.HELD: "ask",
    Outcome.FAILED: "fail",
    Outcome.STOPPED: "fail",
}
"""The workflow action that takes a task in progress to where its run's outcome leaves it."""

_NOT_HANDED_OVER = frozenset({Outcome.FAILED, Outcome.STOPPED})
_WOKEN_WHILE_WAITING = (Trigger.SUBTASK_DONE, TaskStatus.WAITING_INPUT)


def action_after(outcome: Outcome, status: TaskStatus, trigger: Trigger) -> str:
    """The action that is still to be done on a task in this status; empty when others moved it.

    A run that failed may never have come to start its task; left waiting, it would start again.
    After a handover a waiting task is one that people have dealt with already.
    """
    unstarted = status in WAKES or (trigger, status) == _WOKEN_WHILE_WAITING
    waits = unstarted and outcome in _NOT_HANDED_OVER
    return ACTIONS[outcome] if waits or status is TaskStatus.IN_PROGRESS else ""


def assignee_after(ending: Ending | None, task: TaskId) -> str:
    """Who the task itself is given to with the handover; empty: it stays with whom it has."""
    return ending.to if ending and ending.given == task else ""


def part_of(ending: Ending | None, task: TaskId) -> str:
    """The delegated part, which somebody is given; empty when there is none."""
    return ending.given if ending and ending.given != task else ""


def failure_in_words(run: Run) -> str:
    """What the task's comment says of a run that ended without a handover."""
    lines = [f"The run ended {run.outcome} ({run.cause}): {CAUSES[run.cause]}" if run.cause else ""]
    if run.exit and run.exit.detail:
        code = "" if run.exit.code is None else f" (exit {run.exit.code})"
        lines.append(f"How: {run.exit.detail}{code}")
    host = run.evidence.get("host")
    if isinstance(host, Mapping) and (counted := _counted(host)):
        lines.append(f"The host counted: {counted}")
    model = run.evidence.get("model")
    if isinstance(model, Mapping):
        lifts = f"; it lifts at {model['lifts_at']}" if model.get("lifts_at") else ""
        lines.append(
            f"The last model call: {model['kind']} ({model['status']}){lifts}. {model['message']}"
        )
    if run.said and run.said.detail:
        lines.append(f"Its last words: {run.said.detail}")
    return "\n".join([*(line for line in lines if line), f"Record: {run.record}"])


def told(part: Part) -> tuple[str, str]:
    """How a delegated part ended: title and words of the comment on the task that it came from."""
    if part.task is None:
        return f"{part.id} is gone", "What was delegated was deleted."
    head = f"What was delegated is {part.task.status}: {' '.join(part.task.title.split())}"
    if part.run is None:
        return f"{part.id} {part.task.status}", head
    said = part.run.ending.summary if part.run.ending else failure_in_words(part.run)
    return f"{part.id} {part.task.status}", f"{head}\n\n{part.run.agent} said at last:\n\n{said}"


def _counted(host: Mapping[str, Any]) -> str:
    """What of the host's counters tells of trouble."""
    told = []
    if host.get("oom_kills"):
        told.append(f"{host['oom_kills']} kills for memory")
    if host.get("pids_refused"):
        told.append(f"{host['pids_refused']} processes refused")
    if 0 <= host.get("disk_free_bytes", -1) < DISK_FULL_BYTES:
        told.append("no room on the task's disk")
    return ", ".join(told)


def title_of(run: RunId, outcome: Outcome) -> str:
    """The title of the comment that says how a run ended."""
    return f"Run {run} {outcome}"


def proposed_in_words(run: RunId, one: PullRequest) -> tuple[str, str] | None:
    """Title and words of the comment on a pull request; None when there is nothing to say."""
    if one.url:
        return f"Pull request of run {run}", f"{one.branch} is proposed: {one.url}"
    if one.failed:
        words = (
            f"No pull request could be opened for {one.branch or 'the work'}: {one.none}\n"
            f"Once that is mended: sandgate run propose {run}"
        )
        return f"No pull request of run {run}", words
    return None


def work_in_words(work: Work) -> str:
    """What an agent submitted, as its comment on the task says it."""
    tests = [
        f"- {one.command}: {one.result}{f' ({one.detail})' if one.detail else ''}"
        for one in work.tests
    ]
    parts = [
        work.words,
        "\n".join(["Tests:", *tests]) if tests else "",
        f"Not verified: {work.not_verified}" if work.not_verified else "",
        f"Branch: {work.branch}" if work.branch else "",
    ]
    return "\n\n".join(part for part in parts if part)
