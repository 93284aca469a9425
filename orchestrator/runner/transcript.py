"""A run's transcript: its events, then what the door decided for it, one JSON object a line."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO, Any

import orjson

from orchestrator.domain.run import Run
from orchestrator.runner.world import World


async def write_transcript(world: World, run: Run, lines: Sequence[Mapping[str, Any]]) -> Path:
    """Write the transcript as it is now, `lines` being the door's; two may do so at once."""
    path = world.transcripts / f"{run.id}.jsonl"
    with _written_whole(path) as file:
        async for event in world.runs.events(run.id):
            row = {"seq": event.seq, "at": event.at, "kind": event.kind, "data": event.data}
            file.write(orjson.dumps(row, default=str) + b"\n")
        for line in lines:
            file.write(orjson.dumps({"kind": "audit", "data": line}, default=str) + b"\n")
    return path


@contextmanager
def _written_whole(path: Path) -> Iterator[IO[bytes]]:
    """A file to write; it takes the place of `path` when the block ends well, else it is gone."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as file:
        part = Path(file.name)
        try:
            yield file
            file.flush()
            part.replace(path)
        except BaseException:
            part.unlink(missing_ok=True)
            raise
