"""What the doors have held becomes items of the inbox, beside the doors' own work."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import structlog

from entrance.errors import Conflict, SandgateError
from entrance.session import RunId
from orchestrator.approvals.asking import Asking

log = structlog.get_logger()

MOST = 1000
"""So much may wait to be put into the inbox; what comes then is refused all the same, and recorded."""


@dataclass(frozen=True, slots=True)
class HeldRequest:
    """A request that a rule has held."""

    run: RunId
    method: str
    url: str
    cause: Mapping[str, Any] = field(default_factory=dict)


@dataclass
class Holds:
    """Takes them without making anybody wait."""

    asking: Asking
    _queue: asyncio.Queue[HeldRequest] = field(
        init=False, repr=False, default_factory=lambda: asyncio.Queue(MOST)
    )

    def tell(self, held: HeldRequest) -> None:
        """Something was held."""
        try:
            self._queue.put_nowait(held)
        except asyncio.QueueFull:
            log.warning("hold_not_in_the_inbox", run=held.run, why="too many wait")

    async def run(self) -> None:
        """Put them into the inbox until cancelled. What can't be put there is said, and stays refused."""
        while True:
            held = await self._queue.get()
            try:
                await self.asking.held(held.run, held.url, held.method, held.cause)
            except Conflict as error:
                log.info("hold_not_in_the_inbox", run=held.run, why=str(error))
            except (SandgateError, ValueError) as error:
                log.warning("hold_not_in_the_inbox", run=held.run, why=str(error))
