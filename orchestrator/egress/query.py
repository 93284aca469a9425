"""Anybody's SQL over the log, in a process of its own: what it may use, and for how long, has an end.

DuckDB's own limit of memory does not count all that a query can make it take; the kernel's does.
"""

import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Timer
from types import TracebackType
from typing import Any, Self

import orjson

from entrance.errors import Unavailable
from orchestrator.egress.cache import Progress
from orchestrator.egress.database import silent
from orchestrator.egress.statement import QueryRefused

ENDING_S = 5.0


@dataclass(frozen=True, slots=True)
class Limits:
    """What one query may use."""

    rows: int = 10_000
    seconds: float = 60.0
    memory_bytes: int = 1 << 30
    """Beside what the process has before it begins."""


@dataclass
class Answer:
    """The rows of an answer, as they come; to be used in a `with`, which ends the query.

    `cut`, once all rows were taken: there were more than the limit.
    """

    columns: Sequence[str] = field(init=False, default=())
    types: Sequence[str] = field(init=False, default=())
    cut: bool = field(init=False, default=False)
    _process: "subprocess.Popen[bytes]"
    _limits: Limits
    _told: Progress
    _spare: "TemporaryDirectory[str]"
    """What the process has put aside goes with it, however it ends."""
    _timer: Timer = field(init=False)
    _late: bool = field(init=False, default=False)

    def __enter__(self) -> Self:
        """Wait for the answer to begin. Raises: QueryRefused, Unavailable."""
        self._timer = Timer(self._limits.seconds, self._stop)
        self._timer.daemon = True
        self._timer.start()
        try:
            head = self._next()
        except BaseException:
            self._end()
            raise
        self.columns, self.types = head["columns"], head["types"]
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        """End the query, wherever it is."""
        self._end()

    def rows(self) -> Iterator[Sequence[Any]]:
        """The rows, as JSON has them: times as ISO 8601, UTC. Raises: QueryRefused, Unavailable."""
        while isinstance(row := self._next(), list):
            yield row
        self.cut = row["cut"]

    def _next(self) -> Any:
        """The next thing that the process says, but for how far it is and what went wrong."""
        out = self._process.stdout
        while out and (line := out.readline()).endswith(b"\n"):
            said = orjson.loads(line)
            match said:
                case {"ready": [done, every]}:
                    self._told(done, every)
                case {"refused": why}:
                    raise QueryRefused(why)
                case {"unavailable": why}:
                    raise Unavailable(why)
                case _:
                    return said
        if self._late:
            raise QueryRefused(f"it took longer than {self._limits.seconds:.0f} s")
        mib = self._limits.memory_bytes >> 20
        raise QueryRefused(f"it was ended: it may use {mib} MiB of memory")

    def _stop(self) -> None:
        self._late = True
        self._process.kill()

    def _end(self) -> None:
        self._timer.cancel()
        self._process.kill()
        self._process.communicate(timeout=ENDING_S)
        self._spare.cleanup()


def query(folder: Path, sql: str, *, limits: Limits = Limits(), told: Progress = silent) -> Answer:
    """Ask the log in `folder`. `told` hears how many segments are ready, where that takes time."""
    asked = {
        "folder": str(folder.absolute()),
        "sql": sql,
        "rows": limits.rows,
        "memory_bytes": limits.memory_bytes,
    }
    spare = TemporaryDirectory(prefix="sandgate-query-")
    process = subprocess.Popen(
        [sys.executable, "-I", "-m", "orchestrator.egress.answer"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={"TMPDIR": spare.name},
        cwd="/",
    )
    if process.stdin:
        process.stdin.write(orjson.dumps(asked))
        process.stdin.close()
        process.stdin = None
    return Answer(process, limits, told, spare)
