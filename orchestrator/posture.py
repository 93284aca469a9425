"""Whether the sandbox network is closed. As long as that isn't proven, no run starts."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import structlog

from entrance.errors import SandgateError, Unavailable

log = structlog.get_logger()

UNPROVEN = "the sandbox network has not been proven closed yet"
AGAIN_S = 15.0


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


Probe = Callable[[], Sequence[Finding]]
"""Tries every way out of a sandbox. Blocking. Raises: SandgateError when it can't run."""


@dataclass
class Posture:
    """`closed` is empty once the probe found nothing; else it says why no run may start."""

    probe: Probe
    again_s: float = AGAIN_S
    closed: str = UNPROVEN
    _one_at_a_time: asyncio.Lock = field(init=False, default_factory=asyncio.Lock)

    async def run(self) -> None:
        """Probe whenever it isn't proven, until cancelled: at the start, and when a later look failed.

        Between two proofs a change is the firewall's own check to see.
        """
        while True:
            if self.closed:
                await self.look()
            if self.closed:
                log.error("posture_not_proven", reason=self.closed)
            await asyncio.sleep(self.again_s)

    async def look(self) -> None:
        """Probe once. A probe that could not run has proven nothing."""
        async with self._one_at_a_time:
            try:
                findings = await asyncio.to_thread(self.probe)
            except SandgateError as error:
                self.closed = f"nothing is proven about the sandbox network: {error}"
                return
        leaks = [f"{finding.check}: {finding.found}" for finding in findings if not finding.ok]
        if not findings:
            leaks = ["the probe tried nothing"]
        self.closed = f"the sandbox network is not closed: {'; '.join(leaks)}" if leaks else ""

    async def check(self) -> str:
        """For `doctor`. Raises: Unavailable that names what gets through."""
        await self.look()
        if self.closed:
            raise Unavailable(self.closed)
        return "every way out that was tried is closed"
