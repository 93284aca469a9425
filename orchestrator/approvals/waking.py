"""A task whose agent waits for people goes on once all is decided."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import structlog

from entrance.errors import Conflict, Forbidden, NotFound, Unavailable
from entrance.session import TaskId
from orchestrator.approvals.ports import ApprovalStore
from orchestrator.domain.approval import OPEN, Approval
from orchestrator.domain.run import Outcome
from orchestrator.ports import Runs

log = structlog.get_logger()

_WAITS = frozenset({Outcome.ASKED, Outcome.HELD})


@dataclass(frozen=True, slots=True)
class Waking:
    """Wakes it."""

    store: ApprovalStore
    runs: Runs
    wake: Callable[[TaskId, str, str], Awaitable[None]]
    """Has a task that waits for input go on, with these words of this user."""

    async def woken(self, item: Approval, words: str) -> bool:
        """Have the task go on if its agent waits for this: its run ended so, and nothing is open.

        Whether it goes on. Raises: Unavailable when the store is away.
        """
        try:
            run = await self.runs.get(item.run)
        except NotFound:
            return False
        if run.active or run.outcome not in _WAITS:
            return False
        latest = await self.runs.latest(item.task)
        others = await self.store.of_run(item.run)
        waits = any(one.state in OPEN for one in others)
        if waits or latest is None or latest.id != run.id:
            return False
        try:
            await self.wake(item.task, words, item.decided_by)
        except (Conflict, Forbidden, NotFound, Unavailable) as error:
            log.info("task_not_woken", task=item.task, why=str(error))
            return False
        return True
