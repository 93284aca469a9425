"""Where runs, their events and what they spend are stored."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, Protocol

from entrance.ports import Usage
from entrance.session import RunId, TaskId
from orchestrator.domain.run import Run


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened in a run, as the live view and the transcript show it.

    `seq` counts from 0 in each run, without gaps. `kind` is the harness-neutral type (text,
    tool_call, tool_result, usage, phase, ended, raw...), `data` its facts.
    """

    seq: int
    at: datetime
    kind: str
    data: Mapping[str, Any]


class Runs(Protocol):
    """Operational state: runs, their events and what they spend. It can be lost without losing history."""

    async def create(self, run: Run) -> None:
        """Store a new run. Raises: Conflict when its task or its agent has an active run."""
        ...

    async def replace(self, run: Run) -> None:
        """Store a changed run. Raises: Conflict unless the stored version is `run.version - 1`."""
        ...

    async def get(self, run: RunId) -> Run:
        """Raises: NotFound."""
        ...

    async def latest(self, task: TaskId) -> Run | None:
        """The task's active run, or its newest."""
        ...

    async def active(self) -> Sequence[Run]:
        """All runs that haven't ended."""
        ...

    async def recent(self, limit: int, task: TaskId | None = None) -> Sequence[Run]:
        """The newest runs (of one task, or of all), newest first."""
        ...

    async def add_events(self, run: RunId, events: Sequence[Event]) -> None:
        """Store events; ones that are there already (same run and seq) are left alone."""
        ...

    def events(self, run: RunId, after: int = -1) -> AsyncIterator[Event]:
        """The run's stored events with a higher seq, in order."""
        ...

    async def usage(self, run: RunId) -> Usage:
        """What the run has used so far."""
        ...

    async def engagement_usd(self, engagement: str) -> Decimal:
        """What all runs of an engagement have cost so far, in US dollars."""
        ...
