"""What others watch the runner by: metrics, and traces where they are wanted."""

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from entrance.errors import Malformed, SandgateError
from orchestrator.app.parts import Parts
from orchestrator.domain.approval import ApprovalState
from orchestrator.egress.reader import vouched_seq
from orchestrator.egress.segments import numbered
from orchestrator.settings import Settings, Telemetry
from orchestrator.telemetry.following import Following
from orchestrator.telemetry.metrics import Metrics, Now

if TYPE_CHECKING:
    from orchestrator.telemetry.traces import Traces

MOST_HOLDS = 1000
CLOSE_S = 10.0


@dataclass(frozen=True, slots=True)
class Watching:
    """Metrics, and what keeps them and the traces up to date."""

    metrics: Metrics
    following: Following
    parts: Parts
    folder: Path
    closed: Callable[[], str]

    async def render(self) -> bytes:
        """All metrics as they are now; what the store would say is left as it was while it is away."""
        try:
            active = await self.parts.world.runs.active()
            waiting = await self.parts.inbox.store.listed(ApprovalState.WAITING, MOST_HOLDS)
        except SandgateError:
            active, waiting = None, ()
        size, segments, seq = await asyncio.to_thread(_of_the_log, self.folder)
        return self.metrics.render(
            Now(
                active=active,
                holds=len(waiting),
                closed=bool(self.closed()),
                log_bytes=size,
                log_segments=segments,
                log_vouched_seq=seq,
            )
        )


def make_watching(
    settings: Settings, parts: Parts, stack: AsyncExitStack, closed: Callable[[], str]
) -> Watching:
    """Make it; `stack` sends at the end what traces are left. Raises: Malformed, OSError."""
    metrics, folder = Metrics(), settings.log.folder
    hears, ended = [metrics.hear], [metrics.ended]
    if settings.telemetry.otlp_url:
        traces = _traces(settings.telemetry, settings.name)
        stack.push_async_callback(_closed, traces)
        hears.append(traces.hear)
        ended.append(traces.ended)
    parts.world.hear_ended.extend(ended)
    return Watching(metrics, Following(folder, hears), parts, folder, closed)


def _traces(given: Telemetry, installation: str) -> "Traces":
    # Loaded only where it is wanted: it takes its time, and is in nobody's way otherwise.
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import (  # noqa: PLC0415
        OTLPSpanExporter,
    )

    from orchestrator.telemetry.traces import Traces  # noqa: PLC0415

    headers = _headers(given.headers_file) if given.headers_file else {}
    exporter = OTLPSpanExporter(endpoint=given.otlp_url, headers=headers, timeout=CLOSE_S)
    return Traces(exporter, installation, version("sandgate"))


def _headers(file: Path) -> dict[str, str]:
    found: dict[str, str] = {}
    for number, line in enumerate(file.read_text().splitlines(), start=1):
        name, colon, value = line.partition(":")
        if not colon or not name.strip():
            raise Malformed(f"{file}: line {number} is no `Name: value`")
        found[name.strip().lower()] = value.strip()
    return found


async def _closed(traces: "Traces") -> None:
    await asyncio.to_thread(traces.close)


def _of_the_log(folder: Path) -> tuple[int, int, int]:
    """Its bytes, its segments, and up to which record it is vouched for."""
    try:
        found = numbered(folder)
        return sum(path.stat().st_size for _, path in found), len(found), vouched_seq(folder)
    except (SandgateError, OSError):
        return 0, 0, 0
