"""Keeps the firewall of the sandbox network up: what somebody takes down is up again in an instant.

It is told of every change in the moment of it, and looks by itself now and then as well. As long as
the firewall can't be kept up, no run starts, and what runs is ended.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

import structlog

from entrance.errors import SandgateError, Unavailable
from orchestrator.posture import Posture

log = structlog.get_logger()

POLL_S = 2.0
PATIENCE_S = 3.0
"""So long it may be unknown how the firewall stands, before what runs is ended."""


class FirewallDown(Unavailable):
    """The firewall is known to be open, and can't be closed."""


class Firewall(Protocol):
    """The firewall, as far as it has to be kept up."""

    def changes(self) -> AsyncGenerator[None]:
        """One value as soon as it listens, then one after every change, by whomever.

        Raises: Unavailable when that can't be heard of.
        """
        ...

    async def restored(self) -> Sequence[str]:
        """Make it whole, at once; what was wrong with it since this was last asked, whoever mended it.

        Raises: FirewallDown when it can't be made whole, Unavailable when it can't be looked at.
        """
        ...


@dataclass
class Guard:
    """Watches one firewall. `end_all` ends every sandbox, told why; it may raise, and is asked again."""

    firewall: Firewall
    posture: Posture
    end_all: Callable[[str], Awaitable[None]]
    now: Callable[[], datetime]
    poll_s: float = POLL_S
    patience_s: float = PATIENCE_S
    _changed: asyncio.Event = field(init=False, default_factory=asyncio.Event)
    _unknown_since: float | None = field(init=False, default=None)

    async def run(self) -> None:
        """Watch until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._listen())
            while True:
                self._changed.clear()
                await self.look()
                await self._until_changed()

    async def look(self) -> None:
        """Look once, and put right what is wrong."""
        loop = asyncio.get_running_loop()
        began = loop.time()
        try:
            wrong = await self.firewall.restored()
        except SandgateError as error:
            await self._down(error, since=began)
            return
        if wrong:
            took_ms = round((loop.time() - began) * 1000)
            log.error("firewall_restored", wrong=wrong, duration_ms=took_ms)
            self.posture.doubt(
                f"the firewall was changed from outside ({'; '.join(wrong)}), and restored at"
                f" {self.now():%Y-%m-%d %H:%M:%S} UTC"
            )
        elif self.posture.down:
            log.info("firewall_stands_again")
        self._unknown_since, self.posture.down = None, ""

    async def _down(self, error: SandgateError, *, since: float) -> None:
        down = f"the firewall of the sandbox network can't be kept up: {error}"
        if self.posture.down != down:
            log.error("firewall_down", error=str(error))
        self.posture.down = down
        if self._unknown_since is None:
            self._unknown_since = since
        unknown_s = asyncio.get_running_loop().time() - self._unknown_since
        if isinstance(error, FirewallDown) or unknown_s > self.patience_s:
            try:
                await self.end_all(down)
            except SandgateError as trouble:
                log.error("sandboxes_not_ended", error=str(trouble))  # noqa: TRY400 - no bug of ours

    async def _listen(self) -> None:
        said = ""
        while True:
            try:
                async with aclosing(self.firewall.changes()) as changes:
                    async for _ in changes:
                        said = ""
                        self._changed.set()
            except SandgateError as error:
                if said != str(error):
                    log.warning("firewall_not_heard", error=str(error))
                said = str(error)
            await asyncio.sleep(self.poll_s)

    async def _until_changed(self) -> None:
        try:
            async with asyncio.timeout(self.poll_s):
                await self._changed.wait()
        except TimeoutError:
            return
