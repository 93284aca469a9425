"""Runs the battery when it is due, signs what it found, and keeps it.

Due: when there is no report of exactly this configuration; once in a while; and by hand. What has
been proven once is proven after a restart, too: nothing of it has changed.
"""

import asyncio
import secrets
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import structlog

from entrance.errors import Conflict, NotFound, SandgateError, Unavailable
from orchestrator.ports import Clock
from orchestrator.posture.ports import Battery, Findings, Shelf, Tell, Waiver
from orchestrator.posture.report import Acceptance, Configuration, Report, Tried, Why, refusal
from orchestrator.posture.signed import Signer

log = structlog.get_logger()

AGAIN_S = 15.0
LEAVE_S = 10.0
FAILED_AGAIN = timedelta(minutes=5)
"""After a failure it is tried again so soon, and at once when we start: it may have been mended."""
LOOK_S = 60.0
"""So often it is looked whether the configuration is still the one that was proven."""
PENDING = "the walls of the sandboxes are being tried: as they are now, they were never proven"


@dataclass
class Proving:
    """`closed` says why no run may start as far as the battery knows; empty when one may."""

    battery: Battery
    shelf: Shelf
    signer: Signer
    clock: Clock
    installation: str
    every: timedelta
    again_s: float = AGAIN_S
    look_s: float = LOOK_S
    _configuration: Configuration | None = field(init=False, default=None)
    _report: Report | None = field(init=False, default=None)
    """The newest report of this configuration."""
    _acceptances: Sequence[Acceptance] = field(init=False, default=())
    _trouble: str = field(init=False, default="")
    _looked: bool = field(init=False, default=False)
    _one_at_a_time: asyncio.Lock = field(init=False, default_factory=asyncio.Lock)

    @property
    def pending(self) -> bool:
        """Whether there is no word yet: neither a report, nor a reason why there is none."""
        return self._report is None and not self._trouble

    @property
    def closed(self) -> str:
        """Why no run may start now."""
        if self._report is None:
            return self._trouble or PENDING
        failures = self._report.failures(self._acceptances, now=self.clock.now())
        return refusal(failures) if failures else ""

    async def run(self) -> None:
        """Prove what isn't proven, and all of it again when it is time, until cancelled."""
        while True:
            pause_s = self.look_s
            try:
                why = await self._due()
                if why:
                    await self.prove(why)
            except SandgateError as error:
                pause_s = self.again_s
                self._trouble = f"the walls of the sandboxes could not be tried: {error}"
                log.warning("posture_not_tried", error=str(error))
            await asyncio.sleep(pause_s)

    async def prove(self, why: Why, tell: Tell = lambda _: None) -> Report:
        """Run the battery now. Raises: Unavailable, Forbidden, Conflict when it can't be run."""
        async with self._one_at_a_time:
            configuration = await self.battery.configuration()
            began_at = self.clock.now()
            found = await self.battery.run(configuration, tell)
            report = self._reported(why, configuration, began_at, found)
            try:
                await self.shelf.keep(report)
            except Unavailable:
                self._report = None  # an older one may say that what just failed holds
                raise
            self._configuration, self._report, self._trouble = configuration, report, ""
        failures = report.failures(now=self.clock.now())
        told = [tried.name for tried in failures]
        log.info("posture_tried", report=report.id, probes=len(report.probes), failed=told)
        return report

    async def idle(self, patience_s: float = LEAVE_S) -> None:
        """Return once no battery runs any more: one that was cancelled still has to tidy up."""
        with suppress(TimeoutError):
            async with asyncio.timeout(patience_s), self._one_at_a_time:
                return

    async def accept(self, waiver: Waiver) -> Acceptance:
        """Take a person's word that a probe may fail as it does.

        Raises: NotFound when nothing of the kind was tried; Conflict when it didn't fail, or the
        word would be over already; Unavailable.
        """
        report, now = self._report, self.clock.now()
        tried = next((t for t in report.probes if t.name == waiver.probe), None) if report else None
        if report is None or tried is None:
            raise NotFound(f"no probe {waiver.probe} was tried: see `sandgate posture show`")
        if tried.ok:
            raise Conflict(f"the probe {waiver.probe} did not fail: there is nothing to accept")
        if waiver.until is not None and waiver.until <= now:
            raise Conflict(f"until {waiver.until:%Y-%m-%d %H:%M} is over already")
        acceptance = Acceptance(
            probe=tried.name, found=tried.found, why=waiver.why, by=waiver.by, at=now,
            until=waiver.until, report=report.id,
        ).signed(self.signer)  # fmt: skip
        await self.shelf.accept(acceptance)
        self._acceptances = await self.shelf.acceptances()
        log.warning("posture_accepted", probe=tried.name, by=waiver.by, why=waiver.why)
        return acceptance

    async def check(self) -> str:
        """For `doctor`. Raises: Unavailable that says which probe failed, and what to do."""
        if self.closed:
            raise Unavailable(self.closed)
        return self.in_a_line()

    def in_a_line(self) -> str:
        """The newest report of this configuration in a line; empty when there is none."""
        if self._report is None:
            return ""
        kept = len(self._in_force(self._report))
        accepted = f", {kept} accepted" if kept else ""
        at = f"{self._report.ended_at:%Y-%m-%d %H:%M} UTC"
        return f"{len(self._report.probes)} probes passed{accepted}, {at} ({self._report.id})"

    def told(self) -> dict[str, Any]:
        """What the record of a run says of it."""
        if self._report is None:
            return {}
        return {
            "report": self._report.id,
            "fingerprint": self._report.fingerprint,
            "accepted": [f"{one.probe} ({one.by})" for one in self._in_force(self._report)],
        }

    def now(self) -> tuple[Report | None, Sequence[Acceptance]]:
        """The newest report of this configuration, and what is accepted of it now."""
        return self._report, self._in_force(self._report) if self._report else ()

    async def _due(self) -> Why | None:
        """Why the battery is to be run now, if it is."""
        configuration = await self.battery.configuration()
        self._acceptances = await self.shelf.acceptances()
        if configuration != self._configuration:
            self._configuration = configuration
            self._report = await self.shelf.latest(configuration.fingerprint())
        if self._report is None:
            self._looked = True
            return "change" if await self.shelf.latest() else "installation"
        first, self._looked = not self._looked, True
        since = self.clock.now() - self._report.ended_at
        if self.closed and (first or since >= FAILED_AGAIN):
            return "failure"
        return "schedule" if since >= self.every else None

    def _in_force(self, report: Report) -> list[Acceptance]:
        return report.in_force(self._acceptances, now=self.clock.now())

    def _reported(
        self, why: Why, configuration: Configuration, began_at: datetime, found: Findings
    ) -> Report:
        now = self.clock.now()
        report = Report(
            id=f"{began_at:%Y%m%dT%H%M%SZ}-{secrets.token_hex(3)}",
            installation=self.installation,
            why=why,
            began_at=began_at,
            ended_at=now,
            fingerprint=configuration.fingerprint(),
            configuration=configuration,
            policy_generation=found.policy_generation,
            probes=[Tried.of(result) for result in found.results],
            skipped=dict(found.skipped),
        )
        return report.model_copy(update={"accepted": self._in_force(report)}).signed(self.signer)
