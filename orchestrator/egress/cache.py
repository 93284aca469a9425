"""A Parquet file beside each sealed segment: made when it is first asked for, and never needed.

Its name says of which segment, which head and which layout it is: one of an older log, or of an older
Sandgate, is not used but removed. It can be deleted at any time. `verify` deletes all of them, since
nothing proves that one still says what its segment says.
"""

import os
import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path

import duckdb

from orchestrator.egress.attempts import attempts_sql, layout, lines_sql
from orchestrator.egress.segments import Segment

_CACHED = re.compile(r"egress-[0-9]{8}\.[0-9a-f]{16}\.[0-9a-f]{8}\.parquet")

GROUP_ROWS = 8192
"""So many rows are read or passed over together; they are sorted by run, which is mostly asked for."""

_PART = re.compile(r"\.egress-[0-9]{8}\.[0-9a-f.]+\.parquet\.([0-9]+)\.part")

Progress = Callable[[int, int], None]
"""Told how many of how many segments are ready."""


def ready(
    connection: duckdb.DuckDBPyConnection,
    sealed: Sequence[Segment],
    folder: Path,
    told: Progress = lambda _done, _all: None,
) -> Sequence[Path]:
    """The Parquet files of these sealed segments, in `folder`; those that are missing are made.

    Raises: OSError, duckdb.Error when one can't be made.
    """
    paths = [folder / name_of(segment) for segment in sealed]
    missing = [
        (segment, path) for segment, path in zip(sealed, paths, strict=True) if not path.exists()
    ]
    for done, (segment, path) in enumerate(missing):
        told(done, len(missing))
        _make(connection, segment, path)
    if missing:
        told(len(missing), len(missing))
    return paths


def name_of(segment: Segment) -> str:
    """The file's name for a sealed segment."""
    head = segment.seal.head if segment.seal else ""
    return f"{segment.path.stem}.{head[:16]}.{layout()}.parquet"


def sweep(folder: Path, kept: Iterable[Segment] = ()) -> None:
    """Remove the files of all segments but those that are `kept`. What can't be removed stays."""
    names = {name_of(segment) for segment in kept if segment.seal}
    with suppress(OSError):
        for path in folder.iterdir():
            if (_CACHED.fullmatch(path.name) and path.name not in names) or _left(path.name):
                path.unlink(missing_ok=True)


def _left(name: str) -> bool:
    """Whether it is half a file of a process that is gone."""
    found = _PART.fullmatch(name)
    return found is not None and not Path(f"/proc/{found[1]}").exists()


def _make(connection: duckdb.DuckDBPyConnection, segment: Segment, path: Path) -> None:
    """Whole or not at all: a name is only there once the file is."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        part.touch(mode=0o600)
        connection.execute(f"CREATE OR REPLACE TEMP TABLE lines AS {lines_sql(str(segment.path))}")
        connection.execute(
            f"COPY ({attempts_sql('lines')} ORDER BY of NULLS FIRST, run, seq) "
            f"TO '{str(part).replace("'", "''")}' (FORMAT parquet, COMPRESSION lz4_raw, "
            f"ROW_GROUP_SIZE {GROUP_ROWS}, USE_TMP_FILE false)"
        )
        part.replace(path)
    finally:
        connection.execute("DROP TABLE IF EXISTS lines")
        part.unlink(missing_ok=True)
