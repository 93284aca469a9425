"""`python -m orchestrator.egress.answer`: the process that asks one query of the log.

A JSON object on stdin says what is asked. On stdout come, a line each: `{"ready": [n, of]}` while
segments are made ready, `{"columns", "types"}`, the rows as arrays, and `{"cut"}` at the end; or, instead
of any of them, `{"refused"}` or `{"unavailable"}` with why.
"""

import resource
import sys
from pathlib import Path
from typing import Any

import duckdb
import orjson

from entrance.errors import SandgateError
from orchestrator.egress.database import attempts
from orchestrator.egress.statement import QueryRefused, check

BATCH = 1000
_OPTIONS = orjson.OPT_NON_STR_KEYS | orjson.OPT_APPEND_NEWLINE | orjson.OPT_NAIVE_UTC


def main() -> None:
    """Answer what stdin asks."""
    asked = orjson.loads(sys.stdin.buffer.read())
    try:
        with attempts(Path(asked["folder"]), told=_ready) as connection:
            _confine(asked["memory_bytes"])
            check(connection, asked["sql"])
            _answer(connection, asked["sql"], asked["rows"])
    except QueryRefused as error:
        _say({"refused": str(error)})
    except SandgateError as error:
        _say({"unavailable": str(error)})
    except (MemoryError, duckdb.OutOfMemoryException):
        _say({"refused": "it needs more memory than it may use"})
    except duckdb.Error as error:
        _say({"refused": str(error)})


def _confine(memory_bytes: int) -> None:
    """From now on this process writes no file and starts no other, and its memory has an end."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * resource.getpagesize() + memory_bytes
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _answer(connection: duckdb.DuckDBPyConnection, sql: str, most: int) -> None:
    cursor = connection.execute(sql)
    described = cursor.description or []
    types = [str(one[1]) for one in described]
    _say({"columns": [one[0] for one in described], "types": types})
    left = most
    while rows := cursor.fetchmany(min(BATCH, left + 1)):
        for row in rows[:left]:
            _say([_cell(cell, kind) for cell, kind in zip(row, types, strict=True)])
        left -= len(rows)
        if left < 0:
            break
    _say({"cut": left < 0})


def _cell(cell: Any, kind: str) -> Any:
    """JSON stays JSON, and does not become text in JSON."""
    return orjson.Fragment(cell) if kind == "JSON" and cell is not None else cell


def _say(what: object) -> None:
    try:
        raw = orjson.dumps(what, default=_as_text, option=_OPTIONS)
    except TypeError:  # a number that is too long for it, somewhere inside
        raw = orjson.dumps([_as_text(cell) for cell in what], option=_OPTIONS)  # type: ignore[attr-defined]
    sys.stdout.buffer.write(raw)
    sys.stdout.buffer.flush()


def _as_text(value: Any) -> str:
    return value.hex() if isinstance(value, bytes | bytearray) else str(value)


def _ready(done: int, every: int) -> None:
    _say({"ready": [done, every]})


if __name__ == "__main__":
    main()
