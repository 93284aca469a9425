"""What proving needs: something that tries everything, and something that keeps what was found."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from entrance.session import RunId
from orchestrator.posture.judging import Result
from orchestrator.posture.report import Acceptance, Configuration, Report

Tell = Callable[[str], None]
"""Is told how far the battery is, in a few words."""


@dataclass(frozen=True, slots=True)
class Findings:
    """What one battery found, and what it did not try, with the reason."""

    results: Sequence[Result]
    skipped: Mapping[str, str]
    policy_generation: int | None = None
    """The generation of the egress policy that was in force; None where there is no proxy."""


class Battery(Protocol):
    """Makes a sandbox as a run's is made, and tries everything from inside."""

    @property
    def live(self) -> frozenset[RunId]:
        """The runs that its sandboxes are of, now."""
        ...

    async def configuration(self) -> Configuration:
        """What the walls are made of now. Raises: Unavailable."""
        ...

    async def run(self, configuration: Configuration, tell: Tell) -> Findings:
        """Try everything, once. Nothing is left of it. Raises: Unavailable, Forbidden, Conflict."""
        ...


class Shelf(Protocol):
    """Keeps reports and acceptances. Whatever isn't signed by the installation's key isn't there."""

    async def latest(self, fingerprint: str | None = None) -> Report | None:
        """The newest report, of this configuration or of any."""
        ...

    async def keep(self, report: Report) -> None:
        """Keep a report. Raises: Unavailable."""
        ...

    async def acceptances(self) -> Sequence[Acceptance]:
        """Everything that was ever accepted, oldest first."""
        ...

    async def accept(self, acceptance: Acceptance) -> None:
        """Keep an acceptance. Raises: Unavailable."""
        ...


@dataclass(frozen=True, slots=True)
class Waiver:
    """What a person says to accept a probe's failure."""

    probe: str
    why: str
    by: str
    until: datetime | None = None
