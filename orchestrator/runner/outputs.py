"""What a run's harness said, byte for byte as execd gave it: one file a run, line n at line n.

A line is kept before it is counted: after a crash in between, the lines that nobody counted are
read from the sandbox again and take the place of themselves.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from entrance.session import RunId

MOST_BYTES = 16 << 20
"""So much of a run's output is kept. Its events, which are bounded by themselves, go on."""


@dataclass(frozen=True, slots=True)
class Outputs:
    """The files below `folder`."""

    folder: Path
    _ends: dict[RunId, tuple[int, int]] = field(init=False, repr=False, default_factory=dict)
    """By run: how many lines its file has, and how many bytes."""

    def path(self, run: RunId) -> Path:
        """Where a run's output is; there is no file before it said anything."""
        return self.folder / f"{run}.output.log"

    async def keep(self, run: RunId, first: int, lines: Sequence[str]) -> None:
        """Keep lines, the first of them being line number `first` (from 0)."""
        await asyncio.to_thread(self._keep, run, first, lines)

    def forget(self, run: RunId) -> None:
        """Nothing more comes of this run; its file stays."""
        self._ends.pop(run, None)

    def _keep(self, run: RunId, first: int, lines: Sequence[str]) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.path(run)
        count, size = self._ends.get(run, (-1, 0))
        if count != first:
            size = _size_of(path, first)
        data = b"".join(line.encode(errors="replace") + b"\n" for line in lines)
        with path.open("ab") as file:
            file.truncate(size)
            file.write(data[: max(0, MOST_BYTES - size)])
        self._ends[run] = (first + len(lines), min(size + len(data), MOST_BYTES))


def _size_of(path: Path, lines: int) -> int:
    """How many bytes the file's first so many lines take."""
    size = 0
    if path.exists():
        with path.open("rb") as file:
            for _ in range(lines):
                size += len(file.readline())
    return size
