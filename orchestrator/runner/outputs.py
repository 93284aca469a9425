"""What a run's harness said, byte for byte as execd gave it: one file a run, line n at line n.

A line is kept before it is counted: after a crash in between, the lines that nobody counted are
read from the sandbox again and take the place of themselves.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from entrance.session import RunId

MOST_BYTES = 64 << 20
MOST_LINES = 200_000
"""So much of a run's output is kept; a harness that can't stop talking fills nobody's disk."""


@dataclass(frozen=True, slots=True)
class Outputs:
    """The files below `folder`."""

    folder: Path
    _ends: dict[RunId, tuple[int, int]] = field(init=False, repr=False, default_factory=dict)
    """By run: how many lines its file has, and how many bytes."""

    def path(self, run: RunId) -> Path:
        """Where a run's output is; there is no file before it said anything."""
        return self.folder / f"{run}.output.log"

    async def keep(self, run: RunId, first: int, lines: Sequence[str]) -> int:
        """Keep lines, the first of them being line number `first` (from 0).

        Returns how many were kept: once there is no room for a line, none that follows is.
        """
        return await asyncio.to_thread(self._keep, run, first, lines)

    def forget(self, run: RunId) -> None:
        """Nothing more comes of this run; its file stays."""
        self._ends.pop(run, None)

    def _keep(self, run: RunId, first: int, lines: Sequence[str]) -> int:
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.path(run)
        count, size = self._ends.get(run) or _end_of(path, first)
        if count > first:
            count, size = _end_of(path, first)
        if count < first:
            return 0
        fitting = [line.encode(errors="replace") + b"\n" for line in lines[: MOST_LINES - first]]
        while size + sum(map(len, fitting)) > MOST_BYTES:
            fitting.pop()
        with path.open("ab") as file:
            file.truncate(size)
            file.writelines(fitting)
        self._ends[run] = (first + len(fitting), size + sum(map(len, fitting)))
        return len(fitting)


def _end_of(path: Path, lines: int) -> tuple[int, int]:
    """How many lines the file has, at most so many, and how many bytes they take."""
    count, size = 0, 0
    if path.exists():
        with path.open("rb") as file:
            while count < lines and (line := file.readline()).endswith(b"\n"):
                count, size = count + 1, size + len(line)
    return count, size
