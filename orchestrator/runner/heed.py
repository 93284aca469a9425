"""What a harness says is kept twice: as it said it, and as events."""

from collections.abc import Mapping, Sequence
from typing import Any

from orchestrator.domain.run import Run
from orchestrator.ports import Harness, Progress
from orchestrator.runner.world import OWN, World

FULL = "the harness said more than is kept; what it says from here on is not in the record"


async def heed(world: World, run: Run, progress: Progress) -> Run:
    """Keep these lines; the run afterwards has its cursor behind them.

    Of a harness that said too much already only the last word is heeded.
    """
    kept = await world.outputs.keep(run.id, run.cursor + 1, progress.lines)
    said = events_of(world.harnesses[run.harness], progress.lines)
    events: list[tuple[str, Mapping[str, Any]]] = said[:kept]
    if 0 < kept < len(said):
        events.append((OWN, {"state": str(run.state), "why": FULL}))
    return await world.tell(run.id, events, progress.cursor, unkept=said[kept:])


def events_of(harness: Harness, lines: Sequence[str]) -> list[tuple[str, Mapping[str, Any]]]:
    """A harness's lines as events; one that passes itself off as our own is `raw`."""
    read = [harness.read(line) for line in lines]
    return [("raw", {"text": str(data)}) if kind == OWN else (kind, data) for kind, data in read]
