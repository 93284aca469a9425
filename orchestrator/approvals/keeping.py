"""Items after they were decided: given to a task's next run, and ended when what they were for is over."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta

import structlog

from entrance.errors import Conflict, NotFound, SandgateError
from entrance.session import RunId
from orchestrator.approvals.ports import ApprovalStore
from orchestrator.domain.approval import (
    OF_A_RUN,
    OPEN,
    Approval,
    ApprovalState,
    Verb,
    Verdict,
)
from orchestrator.domain.kinds import CALL, TOOL, decided
from orchestrator.domain.run import Run
from orchestrator.ports import Clock, Runs

log = structlog.get_logger()

KEPT = timedelta(days=7)
"""So long an item waits to be decided."""
EVERY_S = 60.0
AT_ONCE = 1000


@dataclass(frozen=True, slots=True)
class Keeping:
    """Looks after items."""

    store: ApprovalStore
    runs: Runs
    clock: Clock
    apply: Callable[[], Awaitable[bool]]
    """Puts what is stored into force."""

    async def claim(self, run: Run) -> None:
        """Give a run what was allowed to its task after the run that had asked was over."""
        for item in await self.store.of_task(run.task):
            if item.state in OF_A_RUN and not item.granted_to:
                with suppress(Conflict):
                    given = replace(item, granted_to=run.id, version=item.version + 1)
                    await self.store.replace(given)

    async def expire(self) -> None:
        """End what nobody decided in time, and what was allowed and is over."""
        now = self.clock.now()
        waiting = await self.store.listed(ApprovalState.WAITING, AT_ONCE)
        late = [item for item in waiting if now - item.asked_at > KEPT]
        opening = await self.store.in_force()
        late += [item for item in opening if not item.opens(now) or await self._over(item)]
        for item in late:
            with suppress(Conflict):
                await self.store.replace(decided(item, Verdict(Verb.EXPIRE, "", now)))
        if late:
            await self.apply()

    async def run(self) -> None:
        """Expire until cancelled; an outage is for the next look."""
        while True:
            try:
                await self.expire()
            except SandgateError as error:
                log.warning("approvals_not_expired", error=str(error))
            await asyncio.sleep(EVERY_S)

    async def _over(self, item: Approval) -> bool:
        """Whether what was allowed to a run is over with it."""
        if item.state not in OF_A_RUN or not item.granted_to:
            return False
        try:
            over = not (await self.runs.get(RunId(item.granted_to))).active
        except NotFound:
            return True
        return over and not await self._is_still_needed(item)

    async def _is_still_needed(self, item: Approval) -> bool:
        """Whether a call of the tool that it opens is held: when it is allowed, its grants are looked at."""
        if item.kind != TOOL:
            return False
        of_run = await self.store.of_run(RunId(item.granted_to))
        wanted = item.wanted["connection"], item.wanted["tool"]
        return any(
            one.kind == CALL
            and one.state in OPEN
            and (one.wanted["connection"], one.wanted["tool"]) == wanted
            for one in of_run
        )
