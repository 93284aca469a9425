"""What people decide about tasks, and what a task waits for [pure]."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from orchestrator.domain.delegation import Part
from orchestrator.domain.plan import WAKES
from orchestrator.domain.run import Run
from orchestrator.domain.task import Task, TaskStatus
from orchestrator.domain.team import Engagement

AGENTS = "bot-"
"""What the user of every agent begins with."""


class Decision(StrEnum):
    """What a person decides about a task."""

    APPROVE = "approve"
    SEND_BACK = "send-back"
    ANSWER = "answer"
    RETRY = "retry"


@dataclass(frozen=True, slots=True)
class Rule:
    """When a decision can be made, and what it does. `action` is the workflow's."""

    source: TaskStatus
    action: str
    title: str
    """Of the comment with the person's words."""
    needs_words: bool
    """The agent would not know what to do without them."""
    wakes: bool
    """The agent has the task again then."""


RULES: Mapping[Decision, Rule] = {
    Decision.APPROVE: Rule(
        TaskStatus.IN_REVIEW, "approve", "Approved", needs_words=False, wakes=False
    ),
    Decision.SEND_BACK: Rule(
        TaskStatus.IN_REVIEW, "send_back", "Sent back", needs_words=True, wakes=True
    ),
    Decision.ANSWER: Rule(
        TaskStatus.WAITING_INPUT, "answer", "Answered", needs_words=True, wakes=True
    ),
    Decision.RETRY: Rule(
        TaskStatus.FAILED, "retry", "To be tried again", needs_words=False, wakes=True
    ),
}


def conflict_of(decision: Decision, task: Task) -> str:
    """Why the decision can't be made about the task now, as a sentence; empty when it can."""
    rule = RULES[decision]
    if task.status is rule.source:
        return ""
    return f"{task.id} is {words_of(task.status)}: {decision} is for a task that is {words_of(rule.source)}"


@dataclass(frozen=True, slots=True)
class Standing:
    """A task with all that says why it stands where it stands."""

    task: Task
    run: Run | None = None
    """Its active run, or its newest."""
    engagement: Engagement | None = None
    """Under which it is done, if an agent that is hired has it."""
    parts: tuple[Part, ...] = ()
    """What was delegated from it, as that stands now; looked at only while it waits for that."""
    held: str = ""
    """Why the runner goes no further with it now."""
    frozen: str = ""
    """What is to be done about its frozen sandbox; empty when it isn't frozen."""
    unsettled: str = ""
    """What of it is held still, as a sentence without its end; empty when nothing is."""

    @property
    def agent(self) -> str:
        """The user of the agent that has it, or had it last; empty for none."""
        hired = self.engagement.bot if self.engagement else ""
        if self.run is None or hired in self.task.assignees:
            return hired
        return self.run.agent


_FOR_PEOPLE: Mapping[TaskStatus, str] = {
    TaskStatus.IN_REVIEW: "approve it, or send it back",
    TaskStatus.WAITING_INPUT: "answer it",
    TaskStatus.FAILED: "have it tried again",
    TaskStatus.IN_PROGRESS: "it is in progress, but no run of it goes on",
}
"""What a task in this status waits for its supervisor to do."""


def waits_for(seen: Standing) -> str:
    """For whom or what the task waits, as a phrase; empty when it doesn't."""
    task = seen.task
    if seen.run and seen.run.active:
        return seen.held
    if seen.frozen:
        return f"{seen.engagement.supervisor if seen.engagement else 'a person'}: {seen.frozen}"
    if task.status in WAKES:
        nobody = f"an agent: it is assigned to none that is hired into {task.project}"
        return seen.held or ("the runner's next look" if seen.engagement else nobody)
    delegated = [
        f"{part.id}, which was delegated and is {words_of(part.task.status)}"
        for part in seen.parts
        if part.task and not part.over
    ]
    if delegated:
        return "; ".join(delegated)
    supervisor = seen.engagement.supervisor if seen.engagement else "a person"
    if task.status not in _FOR_PEOPLE:
        return ""
    return f"{supervisor}: {seen.unsettled or _FOR_PEOPLE[task.status]}"


def words_of(status: TaskStatus) -> str:
    """A status as people say it."""
    return str(status).replace("_", " ") or "in a status of its own"
