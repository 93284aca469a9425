"""A stage on which every probe can be tried, a battery that finds what it is told to, and its reports."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from entrance.errors import SandgateError
from entrance.session import RunId, TaskId
from orchestrator.posture.judging import Found, judge
from orchestrator.posture.ports import Findings, Tell
from orchestrator.posture.probe import Area, Caps, Place, Probe, Stage, Tokens, Wall
from orchestrator.posture.proving import Proving
from orchestrator.posture.report import Acceptance, Configuration, Report, Tried
from tests.fakes.clock import FakeClock

AT = datetime(2026, 11, 30, 4, tzinfo=UTC)
STAGE = Stage(
    place=Place(
        gateway="10.231.9.1",
        door=8080,
        egress=8081,
        sibling="10.231.9.3",
        broadcast="10.231.9.255",
        canary=40_001,
        git_canary=40_002,
        addresses=("172.17.0.1",),
        addresses6=("fe80::1%eth0",),
        listening=(22, 8080, 9100),
        own_ports=(8400,),
        resolvers=("192.0.2.53",),
    ),
    tokens=Tokens("sgr_own", "sgr_sibling", "sgr_ended"),
    caps=Caps(pids=512, memory_bytes=1 << 31, disk_bytes=1 << 32, tmp_bytes=1 << 29, shm_bytes=1 << 26),
    run=RunId("posture-0"),
    task=TaskId("POSTURE/POSTURE-0"),
)  # fmt: skip
CONFIGURATION = Configuration(
    images={"native": "sha256:1"},
    engine="Docker 20.10",
    kernel="Linux 6.18",
    runtime="runc 1.1",
    tier="runc",
    seccomp_sha256="a" * 64,
    firewall_sha256="b" * 64,
    caps={"memory": "2Gi"},
    version="0.1.0",
    code_sha256="c" * 64,
)


class Key:
    """A key of its own."""

    key_id = "k1"

    def __init__(self) -> None:
        self.private = Ed25519PrivateKey.generate()
        self.public = self.private.public_key()

    def sign(self, payload: bytes) -> bytes:
        return self.private.sign(payload)


def tried(name: str, *, ok: bool = True, **changes: Any) -> Tried:
    """A probe that was tried."""
    facts: dict[str, Any] = {
        "name": name,
        "area": "network",
        "wall": "firewall",
        "promise": "Nothing gets out.",
        "expected": ["closed"],
        "found": "closed" if ok else "reached",
        "ok": ok,
    }
    return Tried(**facts | changes)


def report(*probes: Tried, **changes: Any) -> Report:
    """A report of these probes."""
    facts: dict[str, Any] = {
        "id": "20261130T040000Z-abcdef",
        "installation": "sg1",
        "why": "installation",
        "began_at": AT,
        "ended_at": AT,
        "fingerprint": CONFIGURATION.fingerprint(),
        "configuration": CONFIGURATION,
        "probes": list(probes),
    }
    return Report(**facts | changes)


PROBES = [
    Probe(name, Area.NETWORK, Wall.FIREWALL, "Nothing gets out.", "tcp") for name in ("one", "two")
]


@dataclass
class FakeBattery:
    """Finds what it is told to."""

    finds: dict[str, str] = field(default_factory=lambda: {"one": "closed", "two": "closed"})
    made: Configuration = CONFIGURATION
    trouble: SandgateError | None = None
    times: int = 0
    live: frozenset[RunId] = frozenset()
    tidying: asyncio.Event | None = None
    """Set it, and a battery goes on until it is cancelled, and then until the event is set."""

    async def configuration(self) -> Configuration:
        return self.made

    async def run(self, configuration: Configuration, tell: Tell) -> Findings:
        assert configuration == self.made
        self.times += 1
        tell("2 probes tried")
        if self.tidying:
            try:
                await asyncio.Event().wait()
            finally:
                await self.tidying.wait()
        if self.trouble:
            raise self.trouble
        found = {name: Found(word) for name, word in self.finds.items()}
        return Findings(judge(PROBES, "runc", found, {}), {})


@dataclass
class FakeShelf:
    """Keeps in memory."""

    reports: list[Report] = field(default_factory=list)
    accepted: list[Acceptance] = field(default_factory=list)

    async def latest(self, fingerprint: str | None = None) -> Report | None:
        fit = [one for one in self.reports if fingerprint in {None, one.fingerprint}]
        return fit[-1] if fit else None

    async def keep(self, report: Report) -> None:
        self.reports.append(report)

    async def acceptances(self) -> Sequence[Acceptance]:
        return list(self.accepted)

    async def accept(self, acceptance: Acceptance) -> None:
        self.accepted.append(acceptance)


def proving_of(battery: FakeBattery | None = None) -> Proving:
    """A proving whose battery finds what it is told to."""
    day = timedelta(days=1)
    return Proving(battery or FakeBattery(), FakeShelf(), Key(), FakeClock(), "sg1", day)
