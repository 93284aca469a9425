"""A report of the battery, the configuration that it is of, and what people accepted of it [pure]."""

import hashlib
from collections.abc import Sequence
from datetime import datetime
from typing import Literal, Self

import orjson
from pydantic import Field

from orchestrator.posture.judging import Result
from orchestrator.posture.signed import Form, Signed

Why = Literal["installation", "change", "failure", "schedule", "by hand"]


class Configuration(Form):
    """Everything that the walls are made of. With any of it changed, nothing is proven any more."""

    images: dict[str, str]
    """The digest of each harness's sandbox image."""
    execd_image: str = ""
    """The digest of the image that execd comes from."""
    engine: str
    """The container engine, with its version."""
    kernel: str
    """The host's kernel."""
    runtime: str
    """What runs the containers, with its version."""
    tier: Literal["runc", "gvisor"]
    """Which promises hold for that runtime."""
    seccomp_sha256: str
    """The filter of system calls."""
    firewall_sha256: str
    """The text of the firewall's table."""
    caps: dict[str, str]
    """The limits of a sandbox, by name."""
    egress: str = ""
    """What the egress proxy is made with; empty where there is none."""
    version: str
    """Our own version."""
    code_sha256: str
    """Our own code."""

    def fingerprint(self) -> str:
        """SHA-256 over all of it, hex."""
        fields = self.model_dump(mode="json")
        return hashlib.sha256(orjson.dumps(fields, option=orjson.OPT_SORT_KEYS)).hexdigest()

    def changed_since(self, before: "Configuration") -> list[str]:
        """The names of the parts that are other than before."""
        now, then = self.model_dump(), before.model_dump()
        return [name for name in now if now[name] != then[name]]


class Tried(Form):
    """One probe, and what came of it."""

    name: str
    """The probe's name, by which it can be accepted."""
    area: str
    """What it is about."""
    wall: str
    """The control that it watches."""
    promise: str
    """What is promised."""
    expected: list[str]
    """Any of these is well."""
    found: str
    """What the sandbox saw; and what the canaries counted, where that disagrees."""
    evidence: str = ""
    """What that rests on."""
    counted: int | None = None
    """How often the canaries saw it; none where none could."""
    ok: bool
    """Whether it is as promised."""
    ms: int = 0
    """How long it took."""

    @classmethod
    def of(cls, result: Result) -> Self:
        """A result as a report has it."""
        probe = result.probe
        return cls(
            name=probe.name, area=probe.area, wall=probe.wall, promise=probe.promise,
            expected=list(result.expected), found=result.told, evidence=result.found.evidence,
            counted=result.counted, ok=result.ok, ms=result.found.ms,
        )  # fmt: skip


class Acceptance(Signed):
    """A person's word that a probe may fail as it does, for now."""

    probe: str
    """The probe's name."""
    found: str
    """What it had found then. When it finds anything else, it is accepted no more."""
    why: str
    """The person's reason."""
    by: str
    """Who accepts it."""
    at: datetime
    """When."""
    until: datetime | None = None
    """Until when; none: until it finds something else."""
    report: str
    """The report that showed it."""

    def is_about(self, tried: Tried) -> bool:
        """Whether it is about exactly what was found."""
        return (self.probe, self.found) == (tried.name, tried.found)

    def lasts(self, now: datetime) -> bool:
        """Whether it isn't over."""
        return self.until is None or now < self.until


def accepted_by(tried: Tried, words: Sequence[Acceptance], now: datetime) -> Acceptance | None:
    """The newest of these words, oldest first, on what was found; none when it is over [pure].

    A later word takes the place of the one before, also where it ends sooner.
    """
    word = next((word for word in reversed(words) if word.is_about(tried)), None)
    return word if word is not None and word.lasts(now) else None


class Report(Signed):
    """What one battery found."""

    id: str
    """The report's own name, which begins with its time."""
    installation: str
    """The installation that it is of."""
    why: Why
    """What it was run for."""
    began_at: datetime
    """When the first sandbox was asked for."""
    ended_at: datetime
    """When the last one was gone."""
    fingerprint: str
    """Of the configuration."""
    configuration: Configuration
    """What was proven, or not."""
    policy_generation: int | None = None
    """The generation of the egress policy that was in force."""
    probes: list[Tried]
    """Everything that was tried."""
    skipped: dict[str, str] = Field(default_factory=dict)
    """What was not tried here, and why."""
    accepted: list[Acceptance] = Field(default_factory=list)
    """What people accepted of the failures."""

    def failures(self, accepted: Sequence[Acceptance] = (), *, now: datetime) -> list[Tried]:
        """What failed and isn't accepted, by the report's own acceptances or by these."""
        words = [*self.accepted, *accepted]
        return [tried for tried in self._failed if accepted_by(tried, words, now) is None]

    def in_force(self, accepted: Sequence[Acceptance], *, now: datetime) -> list[Acceptance]:
        """Those of these acceptances by which what failed is accepted."""
        words = (accepted_by(tried, accepted, now) for tried in self._failed)
        return [word for word in words if word is not None]

    @property
    def _failed(self) -> list[Tried]:
        return [tried for tried in self.probes if not tried.ok]


def refusal(failures: Sequence[Tried]) -> str:
    """Why no run starts, and what a person can do about it [pure]."""
    told = "; ".join(f"{t.name} (found: {t.found}; promised: {t.promise})" for t in failures[:3])
    more = f"; and {len(failures) - 3} more" if len(failures) > 3 else ""  # noqa: PLR2004
    return (
        f"the walls of the sandboxes don't hold: {told}{more}. Mend it and run `sandgate posture run`,"
        f" or accept it: `sandgate posture accept {failures[0].name} --why ... --by ...`"
    )
