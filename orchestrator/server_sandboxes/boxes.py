"""The sandboxes of MCP servers: started when they are needed, ended when nobody needs them any more.

Level-triggered: those whose run is over, and those that are idle, are ended by looking; disks that a
crash has left are found the same way (their containers the janitor finds).
"""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import structlog

from entrance.errors import NotFound, SandgateError
from entrance.ports import McpServer, Place
from entrance.session import RunId, Session
from orchestrator.server_sandboxes.making import Box, Means, end, lives, make, said_by
from orchestrator.server_sandboxes.names import box_on, disk_of

log = structlog.get_logger()

EVERY_S = 5.0
IDLE_S = 900.0
AFTERWARDS_S = 60.0
"""So long one is kept that was started for a call which a person allowed after its run."""


@dataclass
class Boxes:
    """Implements `entrance.ports.ServerSandboxes` and `runner.ports.Servers`."""

    means: Means
    open_runs: Callable[[], frozenset[RunId]]
    """Those that the door is open to."""
    heartbeat_s: float
    idle_s: float = IDLE_S
    every_s: float = EVERY_S
    _boxes: dict[tuple[RunId, str], Box] = field(init=False, repr=False, default_factory=dict)
    _locks: defaultdict[tuple[RunId, str], asyncio.Lock] = field(
        init=False, repr=False, default_factory=lambda: defaultdict(asyncio.Lock)
    )
    _renewed_at: float = field(init=False, default=0.0)

    async def reach(self, session: Session, server: McpServer, *, start: bool) -> Place:
        """See `entrance.ports.ServerSandboxes`."""
        key = (session.run, server.name)
        async with self._locks[key]:
            box = self._boxes.get(key)
            if box is not None and (box.server != server or not await self._lives(box)):
                await self._end(box)
                box = None
            if box is None and not start:
                raise NotFound(f"the server of {server.name} does not run")
            if box is None:
                box = self._boxes[key] = await make(self.means, session, server)
            box.used_at = self.means.clock()
            return box.place

    def doubt(self, session: Session, server: McpServer) -> None:
        """See `entrance.ports.ServerSandboxes`."""
        box = self._boxes.get((session.run, server.name))
        if box is not None:
            box.doubted = True

    async def end(self, session: Session, server: McpServer) -> None:
        """See `entrance.ports.ServerSandboxes`."""
        await self._end_all([(session.run, server.name)])

    def find(self, token_sha256: str) -> Session | None:
        """See `entrance.ports.ServerSandboxes`."""
        return self.means.register.find(token_sha256)

    async def end_of(self, run: RunId) -> None:
        """End all of a run. Idempotent. Raises: Unavailable when something stays."""
        await self._end_all([key for key in list(self._locks) if key[0] == run])
        for key in [key for key in self._locks if key[0] == run and not self._locks[key].locked()]:
            del self._locks[key]

    def said_by(self, run: RunId) -> Sequence[Path]:
        """The files with what a run's servers said."""
        return said_by(self.means, run)

    async def run(self) -> None:
        """Look after them until cancelled; an outage is for the next look."""
        while True:
            try:
                await self.sweep_disks()
                await self.look()
            except SandgateError as error:
                log.warning("server_sandboxes_not_looked_after", error=str(error))
            await asyncio.sleep(self.every_s)

    async def look(self) -> None:
        """Look once: end what isn't needed, have the others live on. Raises: SandgateError."""
        now, open_runs = self.means.clock(), self.open_runs()
        for key, box in list(self._boxes.items()):
            most = self.idle_s if box.session.run in open_runs else AFTERWARDS_S
            if now - box.used_at > most:
                await self._end_all([key])
        if now - self._renewed_at < self.heartbeat_s:
            return
        for box in list(self._boxes.values()):
            try:
                await self.means.sandboxes.renew(box.sandbox)
            except NotFound:
                box.doubted = True
        self._renewed_at = now

    async def sweep_disks(self) -> None:
        """Disks of sandboxes that a crash has left; while a container has one, it stays for the next time."""
        for disk in await self.means.disks.kept():
            box = box_on(disk.task)
            if box is None or box in self.means.register.live:
                continue
            try:
                await self.means.sandboxes.kill(box)
                await self.means.disks.release(disk_of(box))
                await self.means.disks.purge(disk_of(box))
                log.warning("server_disk_removed", sandbox=box)
            except SandgateError as error:  # one that resists must not shield the others
                log.warning("server_disk_resists", sandbox=box, error=str(error))

    async def _lives(self, box: Box) -> bool:
        if not box.doubted:
            return True
        box.doubted = not await lives(self.means, box)
        return not box.doubted

    async def _end_all(self, keys: Sequence[tuple[RunId, str]]) -> None:
        for key in keys:
            async with self._locks[key]:
                if key in self._boxes:
                    await self._end(self._boxes[key])

    async def _end(self, box: Box) -> None:
        await end(self.means, box)
        del self._boxes[box.session.run, box.server.name]
