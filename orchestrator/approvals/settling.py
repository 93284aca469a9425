"""What is owed of an item that is over: it is said, its task goes on, what was kept is dropped."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace

import structlog

from entrance.errors import Conflict, NotFound, SandgateError
from orchestrator.approvals.ports import UNREADABLE, ApprovalStore, Sending
from orchestrator.approvals.waking import Waking
from orchestrator.domain.approval import OPEN, Approval, ApprovalState
from orchestrator.domain.inbox import comment_when_decided
from orchestrator.domain.kinds import OWED
from orchestrator.ports import Tracker

log = structlog.get_logger()

LOOKED_AT = 200
"""So many of the newest items of a state are looked at for what is owed."""
_OVER = tuple(state for state in ApprovalState if state not in OPEN)


@dataclass(frozen=True, slots=True)
class Settling:
    """Does it. Each part may be done twice."""

    store: ApprovalStore
    tracker: Tracker
    waking: Waking
    sendings: Mapping[str, Sending]

    async def finish(self, item: Approval) -> bool:
        """Do what is owed; whether the task goes on by it. What fails now is made good later."""
        woken = False
        try:
            await self.say(item)
            words = comment_when_decided(item)[1]
            woken = item.state is not ApprovalState.REVOKED and await self.waking.woken(item, words)
            await self.sendings[item.kind].over(item)
            came = {name: value for name, value in item.came.items() if name != OWED}
            with suppress(Conflict):  # done by another look
                await self.store.replace(replace(item, came=came, version=item.version + 1))
        except (SandgateError, *UNREADABLE) as error:
            log.warning("approval_still_owed", item=item.id, error=str(error))
        return woken

    async def say(self, item: Approval) -> None:
        """On the task, what has become of it, once. Raises: Unavailable."""
        with suppress(NotFound):  # the task is gone
            await self.tracker.comment(item.task, *comment_when_decided(item))

    async def make_good(self) -> None:
        """Finish whatever a crash or an outage has left. Raises: Unavailable."""
        for state in _OVER:
            for item in await self.store.listed(state, LOOKED_AT):
                if item.kind in self.sendings and item.came.get(OWED):
                    await self.finish(item)
