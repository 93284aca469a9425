"""The log as a table: `attempts`, of the sealed segments' Parquet and the open one's lines.

The connection can read these rows and do nothing else: no other file, no extension, no setting.
"""

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

import duckdb

from entrance.errors import Unavailable
from orchestrator.egress import cache
from orchestrator.egress.attempts import attempts_sql, late_sql, lines_sql, view_sql
from orchestrator.egress.filters import Filter
from orchestrator.egress.segments import Segment, reaching, segments
from orchestrator.egress.statement import TABLE

MEMORY = "1GB"
THREADS = 2


def silent(_done: int, _all: int) -> None:
    return


@contextmanager
def attempts(
    folder: Path,
    *,
    since: datetime | None = None,
    told: cache.Progress = silent,
    writable: Sequence[Path] = (),
) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection with the view `attempts` over the log in `folder`.

    With `since` the segments that were over by then are left out; what is older may be there all the
    same. `writable` are files that a COPY may write. Raises: NotFound, Unavailable.
    """
    every = segments(folder)
    found = reaching(every, since)
    sealed = [one for one in found if one.seal]
    still_open = [one for one in found if not one.seal]
    with tempfile.TemporaryDirectory(prefix="sandgate-") as spare, _connection(spare) as connection:
        try:
            files = _files(connection, folder, sealed, Path(spare), told)
            cache.sweep(folder, every)
            _make_view(connection, files, still_open)
            _lock(connection, [*files, *writable])
        except (duckdb.Error, OSError) as error:
            raise Unavailable(f"the egress log at {folder} can't be read: {error}") from error
        yield connection


def copy_to_parquet(
    folder: Path, wanted: Filter, out: Path, *, told: cache.Progress = silent
) -> int:
    """Put the attempts that are wanted into a Parquet file; how many. Raises: NotFound, Unavailable."""
    part = out.absolute().with_name(f".{out.name}.part")
    condition, values = wanted.where()
    try:
        part.touch(mode=0o600)
        with attempts(folder, since=wanted.since, told=told, writable=[part]) as connection:
            count = connection.execute(
                f"COPY (FROM attempts WHERE {condition} ORDER BY seq) TO {_text(part)} "
                "(FORMAT parquet, COMPRESSION zstd, USE_TMP_FILE false)",
                values,
            ).fetchone()
        part.replace(out)
        return int(count[0]) if count else 0
    except (duckdb.Error, OSError) as error:
        raise Unavailable(f"{out} can't be written: {error}") from error
    finally:
        part.unlink(missing_ok=True)


@contextmanager
def _connection(spare: str) -> Iterator[duckdb.DuckDBPyConnection]:
    settings: dict[str, str | bool | int | float | list[str]] = {
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
        "memory_limit": MEMORY,
        "temp_directory": spare,
        "max_temp_directory_size": "0B",
        "threads": THREADS,
    }
    with duckdb.connect(config=settings) as connection:
        # Else a table that isn't there would be looked for among our own variables.
        connection.execute("SET python_enable_replacements = false; SET TimeZone = 'UTC'")
        # Each file is read for its late outcomes, and then for what is asked.
        connection.execute("SET parquet_metadata_cache = true")
        yield connection


def _files(
    connection: duckdb.DuckDBPyConnection,
    folder: Path,
    sealed: Sequence[Segment],
    spare: Path,
    told: cache.Progress,
) -> Sequence[Path]:
    """Beside the segments; or, where nothing can be written (a copy on a disc, say), for this once."""
    try:
        return cache.ready(connection, sealed, folder, told)
    except OSError:
        return cache.ready(connection, sealed, spare, told)


def _make_view(
    connection: duckdb.DuckDBPyConnection, files: Sequence[Path], still_open: Sequence[Segment]
) -> None:
    lines = " UNION ALL ".join(lines_sql(str(one.path)) for one in still_open)
    connection.execute(f"CREATE TABLE lines AS {lines or lines_sql('/dev/null')}")
    connection.execute(f"CREATE TABLE fresh AS {attempts_sql('lines')}")
    connection.execute("DROP TABLE lines")
    sources = ["fresh"]
    if files:
        sources.append(f"read_parquet([{', '.join(_text(path) for path in files)}])")
    connection.execute(f"CREATE TABLE late AS {late_sql(sources)}")
    connection.execute(f"CREATE VIEW {TABLE} AS {view_sql(sources, 'late')}")


def _lock(connection: duckdb.DuckDBPyConnection, files: Sequence[Path]) -> None:
    allowed = ", ".join(_text(path) for path in files)
    connection.execute(f"SET allowed_paths = [{allowed}]::VARCHAR[]")
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")


def _text(path: Path) -> str:
    return "'" + str(path).replace("'", "''") + "'"
