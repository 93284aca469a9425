"""The gate: as long as it isn't proven that a sandbox can't get out, no run starts.

The network is probed quickly at every start and whenever it came in doubt; the walls as a whole are
the battery's (`proving`), which has a longer word.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import structlog

from entrance.errors import SandgateError, Unavailable

log = structlog.get_logger()

UNPROVEN = "the sandbox network has not been proven closed yet"
AGAIN_S = 15.0
INCIDENTS_KEPT = 3
"""So many of the newest incidents are told to whoever asks."""


class Finding(Protocol):
    """One thing that the probe tried: what it is called, what was found, and whether that is well."""

    @property
    def check(self) -> str:
        """What was tried."""
        ...

    @property
    def ok(self) -> bool:
        """Whether it is as it should be."""
        ...

    @property
    def found(self) -> str:
        """What was found."""
        ...


class Walls(Protocol):
    """What the battery says."""

    @property
    def closed(self) -> str:
        """Why no run may start, as far as it knows; empty when one may."""
        ...

    @property
    def pending(self) -> bool:
        """Whether it has no word yet."""
        ...


Probe = Callable[[], Sequence[Finding]]
"""Tries every way out of a sandbox. Blocking. Raises: SandgateError when it can't run."""


@dataclass
class Posture:
    """`closed` says why no run may start; it is empty once the probe found nothing."""

    probe: Probe
    again_s: float = AGAIN_S
    down: str = ""
    """Why the firewall can't be kept up; empty while it is. Written by whoever guards it."""
    walls: Walls | None = None
    """The battery; None: nothing is asked of it."""
    _unproven: str = field(init=False, default=UNPROVEN)
    _incidents: list[str] = field(init=False, default_factory=list)
    _doubted: asyncio.Event = field(init=False, default_factory=asyncio.Event)
    _one_at_a_time: asyncio.Lock = field(init=False, default_factory=asyncio.Lock)

    @property
    def closed(self) -> str:
        """Why no run may start now."""
        return self._network or (self.walls.closed if self.walls else "")

    @property
    def proving(self) -> bool:
        """Whether the reason for that is only that there is no word yet."""
        first = self._unproven == UNPROVEN
        return not self.down and (first or (self.walls is not None and self.walls.pending))

    @property
    def _network(self) -> str:
        return self.down or self._unproven

    async def run(self) -> None:
        """Probe whenever it isn't proven, until cancelled: at the start, and when it came in doubt.

        Between two proofs a change is the firewall's own check to see.
        """
        while True:
            if self._unproven:
                await self.look()
            if self._network:
                log.error("posture_not_proven", reason=self._network)
            try:
                async with asyncio.timeout(self.again_s):
                    await self._doubted.wait()
            except TimeoutError:
                continue

    def doubt(self, incident: str) -> None:
        """Something has happened to the network: from now on nothing is proven, until it is anew."""
        self._incidents = [*self._incidents, incident][-INCIDENTS_KEPT:]
        self._unproven = f"{incident}; the sandbox network is being proven anew"
        self._doubted.set()

    async def look(self) -> None:
        """Probe once. A probe that could not run has proven nothing."""
        async with self._one_at_a_time:
            self._doubted.clear()
            unproven = await self._probed()
            if not self._doubted.is_set():  # else it may be of before
                self._unproven = unproven

    async def check(self) -> str:
        """For `doctor`. Raises: Unavailable that names what gets through."""
        await self.look()
        if self._network:
            raise Unavailable(self._network)
        return "; ".join(["every way out that was tried is closed", *self._incidents])

    async def _probed(self) -> str:
        try:
            findings = await asyncio.to_thread(self.probe)
        except SandgateError as error:
            return f"nothing is proven about the sandbox network: {error}"
        leaks = [f"{finding.check}: {finding.found}" for finding in findings if not finding.ok]
        if not findings:
            leaks = ["the probe tried nothing"]
        return f"the sandbox network is not closed: {'; '.join(leaks)}" if leaks else ""
