"""What of a task is held still when its work is handed in: said to its agent, and to who reviews it."""

from collections.abc import Sequence
from dataclasses import dataclass

from entrance.session import TaskId
from orchestrator.approvals.ports import ApprovalStore
from orchestrator.domain.approval import OPEN
from orchestrator.domain.calls import not_made
from orchestrator.domain.kinds import CALL, PUSH, kind_of
from orchestrator.domain.push import not_there

_OF_THE_WORK = frozenset({PUSH, CALL})
"""Kinds that change something: while one of these is open, what would be approved isn't all there."""


@dataclass(frozen=True, slots=True)
class Unsettled:
    """Tells it. Raises: Unavailable."""

    store: ApprovalStore

    async def told(self, task: TaskId) -> Sequence[str]:
        """What the task's agent did and isn't done, or not known to be done, a sentence each."""
        items = await self.store.of_task(task)
        return [*not_there(items), *not_made(items)]

    async def why_not(self, task: TaskId) -> str:
        """Why the task can't be approved yet, as a sentence without its end; empty when it can.

        What is denied, over or unknown for good is in nobody's way, nor is what only opens something.
        """
        items = await self.store.of_task(task)
        held = [one for one in items if one.kind in _OF_THE_WORK and one.state in OPEN]
        named = [f"{kind_of(one).what} of it is held still: {one.id}" for one in held]
        return ", and ".join(named)
