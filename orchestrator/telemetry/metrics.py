"""Counters and gauges, as Prometheus reads them.

No label has a value that a sandbox chooses, or one of endlessly many: no host, run, task or agent.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal, InvalidOperation
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.process_collector import ProcessCollector

from orchestrator.domain.run import Cause, Outcome, Run, RunState

DOORS = frozenset({"egress", "model", "mcp", "git", "fence", "entrance"})
DECISIONS = frozenset({"allow", "hold", "deny"})
TOKENS = ("input", "output", "cache_read", "cache_write")
BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900)
"""Seconds: from a cached page to a long answer of a model."""
OTHER = "other"
OPEN = 20_000
"""So many decisions are remembered until their outcome comes."""


@dataclass(frozen=True, slots=True)
class Now:
    """What is so in this moment."""

    active: Sequence[Run] | None
    """None: the store didn't say, nor did it of `holds`."""
    holds: int
    """Items in the inbox that wait for a person."""
    closed: bool
    """No run may start."""
    log_bytes: int
    log_segments: int
    log_vouched_seq: int
    """Up to this record the log's checkpoint vouches for it; 0: there is none yet."""


LABELS: Mapping[str, Sequence[str]] = {
    "sandgate_attempts": ("door", "decision"),
    "sandgate_attempts_ended": ("door", "status"),
    "sandgate_traffic_bytes": ("door", "direction"),
    "sandgate_attempt_seconds": ("door",),
    "sandgate_model_tokens": ("kind",),
    "sandgate_runs_ended": ("outcome", "cause"),
    "sandgate_runs": ("state",),
}
"""The labels of those that have some."""


class Metrics:
    """All of them, in a registry of their own."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        self._attempts = self._counter("attempts", "Attempts that were decided.")
        self._ended = self._counter(
            "attempts_ended", "Attempts whose outcome was recorded, by class of HTTP status."
        )
        self._bytes = self._counter("traffic_bytes", "Bytes; out is from sandboxes to the world.")
        self._seconds = Histogram(
            "sandgate_attempt_seconds",
            "How long allowed attempts took.",
            LABELS["sandgate_attempt_seconds"],
            buckets=BUCKETS,
            registry=self.registry,
        )
        self._spent = self._counter("spend_usd", "US dollars that model calls have cost.")
        self._tokens = self._counter("model_tokens", "Tokens of model calls.")
        self._runs_ended = self._counter("runs_ended", "Runs that ended.")
        self._runs = self._gauge("runs", "Runs that have not ended.")
        self._holds = self._gauge("holds", "Items in the inbox that wait for a person.")
        self._store = self._gauge("store_up", "1 while the store answers.")
        self._closed = self._gauge("closed", "1 while no run may start.")
        self._log_seq = self._gauge(
            "log_newest_seq", "Number of the newest record of the egress log."
        )
        self._log_at = self._gauge("log_newest_timestamp_seconds", "When it was written.")
        self._log_lag = self._gauge(
            "log_unvouched_records", "Records that no signed checkpoint vouches for yet."
        )
        self._log_bytes = self._gauge("log_bytes", "Size of the egress log on the disk.")
        self._log_segments = self._gauge("log_segments", "Its segments.")
        self._doors: dict[int, str] = {}
        self._newest = 0

    def hear(self, line: Mapping[str, Any]) -> None:
        """Count one line of the log."""
        seq = line.get("seq")
        if not isinstance(seq, int):
            return
        self._newest = seq
        self._log_seq.set(seq)
        self._log_at.set(_timestamp(line.get("at")))
        if line.get("type") == "decided":
            self._decided(seq, line)
        elif line.get("type") == "outcome":
            self._came(line)

    def ended(self, run: Run) -> None:
        """Count a run that ended."""
        outcome = run.outcome if run.outcome in set(Outcome) else OTHER
        cause = run.cause if run.cause in set(Cause) else OTHER
        self._runs_ended.labels(str(outcome), str(cause)).inc()

    def render(self, now: Now) -> bytes:
        """Everything, in Prometheus' text format."""
        self._store.set(now.active is not None)
        if now.active is not None:
            for state in RunState:
                if state is not RunState.ENDED:
                    count = sum(run.state == state for run in now.active)
                    self._runs.labels(str(state)).set(count)
            self._holds.set(now.holds)
        self._closed.set(now.closed)
        self._log_bytes.set(now.log_bytes)
        self._log_segments.set(now.log_segments)
        self._log_lag.set(max(0, self._newest - now.log_vouched_seq))
        return generate_latest(self.registry)

    def _decided(self, seq: int, line: Mapping[str, Any]) -> None:
        door, decision = _one_of(line.get("door"), DOORS), _one_of(line.get("decision"), DECISIONS)
        self._attempts.labels(door, decision).inc()
        if decision == "allow":
            self._doors[seq] = door
            if len(self._doors) > OPEN:
                del self._doors[next(iter(self._doors))]

    def _came(self, line: Mapping[str, Any]) -> None:
        of = line.get("of")
        door = self._doors.pop(of, OTHER) if isinstance(of, int) else OTHER
        self._ended.labels(door, _class_of(line.get("status"))).inc()
        for direction in ("out", "in"):
            self._bytes.labels(door, direction).inc(_number(line.get(f"bytes_{direction}")))
        detail = line.get("detail")
        facts: Mapping[str, Any] = detail if isinstance(detail, Mapping) else {}
        ms = line.get("ms", facts.get("ms"))
        if isinstance(ms, int | float):
            self._seconds.labels(door).observe(_number(ms) / 1000)
        self._spent.inc(_usd(facts.get("cost_usd")))
        for kind in TOKENS:
            self._tokens.labels(kind).inc(_number(facts.get(f"{kind}_tokens")))

    def _counter(self, name: str, says: str) -> Counter:
        whole = f"sandgate_{name}"
        return Counter(whole, says, LABELS.get(whole, ()), registry=self.registry)

    def _gauge(self, name: str, says: str) -> Gauge:
        whole = f"sandgate_{name}"
        return Gauge(whole, says, LABELS.get(whole, ()), registry=self.registry)


def _one_of(value: object, known: frozenset[str]) -> str:
    return value if isinstance(value, str) and value in known else OTHER


def _class_of(status: object) -> str:
    """`2xx` and the like; `none` where there is no HTTP status."""
    if not isinstance(status, int) or not 100 <= status <= 599:  # noqa: PLR2004 - HTTP's
        return "none"
    return f"{status // 100}xx"


def _number(value: object) -> float:
    """A number that a counter takes: nothing is ever counted back."""
    return float(value) if isinstance(value, int | float) and value > 0 else 0.0


def _usd(text: object) -> float:
    try:
        return _number(float(Decimal(str(text)))) if text is not None else 0.0
    except InvalidOperation:
        return 0.0


def _timestamp(at: object) -> float:
    try:
        return datetime.fromisoformat(str(at)).timestamp()
    except ValueError:
        return 0.0
