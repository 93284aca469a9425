"""One run's lines of the log: what was decided for it, and what came of that."""

import mmap
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

import orjson

from entrance.log.shelf import Shelf
from entrance.session import RunId


def trail(shelf: Shelf, run: RunId, since: datetime | None = None) -> list[dict[str, Any]]:
    """The run's lines, oldest first. `since`: no line of it is older.

    Raises: OSError when they can't be read. Blocking: call it in a thread.
    """
    mark = b'"run":' + orjson.dumps(run)
    found: list[dict[str, Any]] = []
    for number in shelf.segments():
        if since is None or not _sealed_before(shelf.seal(number), since):
            with suppress(FileNotFoundError):  # retention has removed it meanwhile
                lines = [orjson.loads(raw) for raw in lines_with(mark, shelf.segment(number))]
                found += [line for line in lines if line.get("run") == run]
    return found


def lines_with(mark: bytes, path: Path) -> Iterator[bytes]:
    """The whole lines that have `mark` in them; most of a long file are passed over unread."""
    with path.open("rb") as file:
        if not path.stat().st_size:
            return
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            end = data.rfind(b"\n") + 1
            at = data.find(mark, 0, end)
            while at >= 0:
                begin, after = data.rfind(b"\n", 0, at) + 1, data.find(b"\n", at) + 1
                yield data[begin:after]
                at = data.find(mark, after, end)


def _sealed_before(seal: Path, since: datetime) -> bool:
    """Whether a segment was closed by then. A seal that can't be read says nothing."""
    try:
        return datetime.fromisoformat(orjson.loads(seal.read_bytes())["sealed_at"]) < since
    except (OSError, ValueError, KeyError, TypeError):
        return False
