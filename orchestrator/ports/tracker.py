"""Where tasks, agents and engagements are, and where the record of runs goes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, Protocol

from entrance.session import TaskId
from orchestrator.domain.run import Run
from orchestrator.domain.task import Comment, Task
from orchestrator.domain.team import Agent, Engagement


@dataclass(frozen=True, slots=True)
class RunRecord:
    """What the agentRun work item says of a run; text fields are JSON."""

    run: Run
    title: str
    engagement: str
    ledger: Mapping[str, Any]
    gateway_calls: Sequence[Mapping[str, Any]]


class Tracker(Protocol):
    """Polarion, as the runner's service user: what is to be done, and the record of what was."""

    async def engagements(self) -> Sequence[Engagement]:
        """All active engagements, of all projects."""
        ...

    async def waking(self, engagements: Sequence[Engagement]) -> Sequence[Task]:
        """Tasks `LOOKED_AT` that one of these agents has in the project that hired it."""
        ...

    async def task(self, task: TaskId) -> Task | None:
        """The task now, or None when it is gone."""
        ...

    async def thread(self, task: TaskId) -> Sequence[Comment]:
        """The task's comments, oldest first. Raises: NotFound."""
        ...

    async def agent(self, bot: str) -> Agent | None:
        """The pool's active agent with this bot user, with its approved skills."""
        ...

    async def memories(self, project: str, bot: str) -> Sequence[str]:
        """The active memories of the agent with this bot user in the project, oldest first."""
        ...

    async def act(self, task: TaskId, action: str, *, assign: str = "") -> None:
        """Do a workflow action; with it, and only with it, `assign` becomes the one assignee.

        Raises: NotFound; Conflict when the task's status doesn't have the action, or something
        that it requires is missing.
        """
        ...

    async def assign(self, item: str, user: str) -> None:
        """Give a work item to a user, unless somebody has it. Raises: NotFound."""
        ...

    async def comment(self, task: TaskId, title: str, text: str) -> None:
        """Say something on the task, once: the same words under the same title aren't repeated.

        The words count too: else an agent's comment could keep ours from being said.
        Raises: NotFound.
        """
        ...

    async def record(self, record: RunRecord) -> str:
        """Make or update the run's agentRun work item and return its id.

        It is found by `run.record`, else by its run key; linked to task and engagement once; ended
        as soon as the run has an outcome.
        """
        ...

    async def attach(self, item: str, name: str, path: Path) -> None:
        """Attach a file, unless one of that name is attached already. Raises: NotFound."""
        ...

    async def spent(self, engagement: str, total_usd: Decimal) -> None:
        """Write what the engagement has spent in all: a total, not an addition. Raises: NotFound."""
        ...
