"""What the inbox needs of the world. Everything may raise `entrance.errors`."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from entrance.session import RunId, TaskId
from orchestrator.domain.access import Attempt
from orchestrator.domain.approval import Approval, ApprovalState


class ApprovalStore(Protocol):
    """Where items are kept."""

    async def create(self, item: Approval) -> None:
        """Store a new item. Raises: Conflict when it is there already."""
        ...

    async def get(self, item: str) -> Approval:
        """Raises: NotFound."""
        ...

    async def replace(self, item: Approval) -> None:
        """Store a changed item. Raises: Conflict unless the stored version is one less."""
        ...

    async def listed(self, state: ApprovalState | None, limit: int) -> Sequence[Approval]:
        """The newest items (of a state, or of all), newest first."""
        ...

    async def in_force(self) -> Sequence[Approval]:
        """All items that open something, as far as their state says."""
        ...

    async def of_run(self, run: RunId) -> Sequence[Approval]:
        """All items that a run asked for."""
        ...

    async def of_task(self, task: TaskId) -> Sequence[Approval]:
        """All items that a task's runs asked for."""
        ...


class Recorded(Protocol):
    """What the log knows."""

    async def attempts(self, since: datetime) -> Sequence[Attempt]:
        """Tries to reach the internet since then. Raises: Unavailable."""
        ...
