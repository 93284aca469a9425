"""Traces for OpenTelemetry: a run is a span, and each of its attempts one below it.

A run's trace id is made from its id: so an attempt's span finds its run's, which is sent only when the
run has ended, also over a restart of the runner; and whoever knows a run finds its trace.
"""

import hashlib
from collections import OrderedDict
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter
from opentelemetry.sdk.trace.id_generator import IdGenerator, RandomIdGenerator
from opentelemetry.trace import (
    NonRecordingSpan,
    SpanContext,
    SpanKind,
    Status,
    StatusCode,
    TraceFlags,
    set_span_in_context,
)

from orchestrator.domain.run import Outcome, Run

OPEN = 20_000
"""So many decisions wait for their outcome; the oldest of more is told as it is."""
_ATTRIBUTES: Mapping[str, str] = {
    "method": "http.request.method",
    "url": "url.full",
    "host": "server.address",
    "port": "server.port",
    "target": "network.peer.address",
    "status": "http.response.status_code",
    **{
        name: f"sandgate.{name}"
        for name in (
            *("seq", "run", "task", "agent", "door", "kind", "decision", "rule", "reason"),
            *("result", "bytes_out", "bytes_in"),
        )
    },
}
"""A line's fields, by OpenTelemetry's semantic conventions where there are some."""


class Traces:
    """Makes spans, and has them sent in the background. Nothing waits for that, nor fails by it."""

    def __init__(self, exporter: SpanExporter, installation: str, version: str) -> None:
        self._installation = installation
        self._ids = _Ids()
        about = {
            "service.name": "sandgate",
            "service.instance.id": installation,
            "service.version": version,
        }
        self._provider = TracerProvider(
            resource=Resource(about), id_generator=self._ids, shutdown_on_exit=False
        )
        self._provider.add_span_processor(BatchSpanProcessor(exporter, export_timeout_millis=5000))
        self._tracer = self._provider.get_tracer("sandgate", version)
        self._open: OrderedDict[int, Mapping[str, Any]] = OrderedDict()

    def hear(self, line: Mapping[str, Any]) -> None:
        """Take one line of the log. What is allowed becomes a span when its outcome comes."""
        if line.get("type") == "decided" and line.get("run"):
            self._decided(line)
        elif line.get("type") == "outcome":
            of = line.get("of")
            if isinstance(of, int) and (decided := self._open.pop(of, None)):
                self._attempt(decided, line)

    def ended(self, run: Run) -> None:
        """A run has ended: its own span."""
        self._ids.next = self._ids_of(run.id)
        attributes: dict[str, str | float] = {
            "sandgate.run": run.id,
            "sandgate.task": run.task,
            "sandgate.agent": run.agent,
            "sandgate.harness": run.harness,
            "sandgate.model": run.model,
            "sandgate.trigger": str(run.trigger),
            "sandgate.outcome": str(run.outcome),
            "sandgate.cause": str(run.cause),
            "sandgate.cost_usd": float(run.usage.cost_usd),
        }
        span = self._tracer.start_span(
            f"run {run.harness}",
            kind=SpanKind.INTERNAL,
            attributes=attributes,
            start_time=_nanoseconds(run.created_at),
        )
        for state, since in run.since.items():
            span.add_event(str(state), timestamp=_nanoseconds(since))
        if run.outcome in {Outcome.FAILED, Outcome.STOPPED}:
            span.set_status(Status(StatusCode.ERROR, str(run.cause)))
        span.end(_nanoseconds(max([run.created_at, *run.since.values()])))

    def close(self) -> None:
        """Send what is left, for a few seconds at most. Blocking."""
        for decided in self._open.values():
            self._attempt(decided, {})
        self._open.clear()
        self._provider.shutdown()

    def _decided(self, line: Mapping[str, Any]) -> None:
        if line.get("decision") != "allow":
            self._attempt(line, {})
            return
        self._open[int(line["seq"])] = line
        if len(self._open) > OPEN:
            self._attempt(self._open.popitem(last=False)[1], {})

    def _attempt(self, decided: Mapping[str, Any], came: Mapping[str, Any]) -> None:
        began = _time(decided.get("at"))
        if began is None:
            return
        over = _time(came.get("at")) or began
        trace, span_id = self._ids_of(str(decided["run"]))
        above = SpanContext(
            trace, span_id, is_remote=True, trace_flags=TraceFlags(TraceFlags.SAMPLED)
        )
        span = self._tracer.start_span(
            f"{decided.get('door', '')} {decided.get('method') or decided.get('kind', '')}",
            context=set_span_in_context(NonRecordingSpan(above)),
            kind=SpanKind.CLIENT,
            attributes=_attributes(
                {**decided, **came, "seq": decided["seq"], "run": decided["run"]}
            ),
            start_time=_nanoseconds(began),
        )
        if decided.get("decision") in {"deny", "hold"}:
            span.set_status(Status(StatusCode.ERROR, str(decided.get("reason", ""))))
        span.end(_nanoseconds(max(began, over)))

    def _ids_of(self, run: str) -> tuple[int, int]:
        """The trace's and the run's span's id: 16 and 8 bytes."""
        digest = hashlib.sha256(f"{self._installation}/{run}".encode()).digest()
        return int.from_bytes(digest[:16]), int.from_bytes(digest[16:24])


class _Ids(IdGenerator):
    """Random ids, unless the next span's were set."""

    def __init__(self) -> None:
        self._random = RandomIdGenerator()
        self.next: tuple[int, int] | None = None

    def generate_trace_id(self) -> int:
        return self.next[0] if self.next else self._random.generate_trace_id()

    def generate_span_id(self) -> int:
        given, self.next = self.next, None
        return given[1] if given else self._random.generate_span_id()


def _attributes(fields: Mapping[str, Any]) -> dict[str, str | int | float]:
    found = ((name, fields.get(field)) for field, name in _ATTRIBUTES.items())
    return {name: value for name, value in found if isinstance(value, str | int | float)}


def _time(at: object) -> datetime | None:
    try:
        return datetime.fromisoformat(str(at))
    except ValueError:
        return None


def _nanoseconds(at: datetime) -> int:
    return int(at.timestamp() * 1_000_000) * 1000
