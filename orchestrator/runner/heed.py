"""What a harness says is kept twice: as it said it, and as events."""

from collections.abc import Mapping, Sequence
from typing import Any

from orchestrator.domain.run import Run
from orchestrator.ports import Harness, Progress
from orchestrator.runner.world import OWN, World


async def heed(world: World, run: Run, progress: Progress) -> Run:
    """Keep these lines; the run afterwards has its cursor behind them."""
    await world.outputs.keep(run.id, run.cursor + 1, progress.lines)
    events = events_of(world.harnesses[run.harness], progress.lines)
    return await world.tell(run.id, events, progress.cursor)


def events_of(harness: Harness, lines: Sequence[str]) -> list[tuple[str, Mapping[str, Any]]]:
    """A harness's lines as events; one that passes itself off as our own is `raw`."""
    read = [harness.read(line) for line in lines]
    return [("raw", {"text": str(data)}) if kind == OWN else (kind, data) for kind, data in read]
