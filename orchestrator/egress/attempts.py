"""The SQL that makes attempts of the log's lines: a decision and what came of it in one row [pure].

A line that can't be read, or a field of another type than it should have, is NULL and stops nobody:
that the log is whole is what `verify` says, and whoever looks for a tampered line must still see the rest.
"""

import hashlib
from collections.abc import Iterable, Sequence

from orchestrator.egress.columns import COLUMNS, Column

LATE = "of"
"""The column of a row that is only an outcome: its decision is in an earlier segment."""


def lines_sql(path: str) -> str:
    """A SELECT of a segment's lines, each field in a column of the type it is read as."""
    fields = {"type": "VARCHAR", "of": "BIGINT"}
    for column in COLUMNS:
        fields[column.field] = _read_as(column)
    wanted = ", ".join(f"{_text(name)}: {_text(kind)}" for name, kind in fields.items())
    return (
        f"FROM read_json({_text(path)}, format = 'newline_delimited', ignore_errors = true, "
        f"columns = {{{wanted}}})"
    )


def attempts_sql(lines: str) -> str:
    """A SELECT of attempts from a table of lines.

    Outcomes whose decision is not among the lines follow, with `of` and without `seq`.
    """
    decided = _columns(COLUMNS, {"decided": "d", "outcome": "o", "both": ""})
    late = _columns(COLUMNS, {"outcome": "o", "both": "o"})
    return (
        f"SELECT NULL::BIGINT AS of, {decided} FROM {lines} d "
        f"LEFT JOIN {lines} o ON o.of = d.seq AND o.type = 'outcome' "
        "WHERE d.type = 'decided' AND d.seq IS NOT NULL "
        f"UNION ALL SELECT o.of, {late} FROM {lines} o "
        "WHERE o.type = 'outcome' AND o.of IS NOT NULL AND NOT EXISTS "
        f"(FROM {lines} d WHERE d.type = 'decided' AND d.seq = o.of)"
    )


def late_sql(sources: Iterable[str]) -> str:
    """A SELECT of the outcomes whose decision is in an earlier segment, with what they say."""
    said = ", ".join(_name(one.name) for one in COLUMNS if one.source != "decided")
    return " UNION ALL ".join(
        f"SELECT of, {said} FROM {source} WHERE of IS NOT NULL" for source in sources
    )


def view_sql(sources: Iterable[str], late: str) -> str:
    """A SELECT of whole attempts: those of all sources, with the late outcomes put in their place."""
    columns = ", ".join(
        f"a.{_name(one.name)}"
        if one.source == "decided"
        else f"coalesce(l.{_name(one.name)}, a.{_name(one.name)}) AS {_name(one.name)}"
        for one in COLUMNS
    )
    union = " UNION ALL BY NAME ".join(f"FROM {source}" for source in sources)
    return (
        f"SELECT {columns} FROM (FROM ({union}) WHERE seq IS NOT NULL) a "
        f"LEFT JOIN {late} l ON l.of = a.seq"
    )


def layout() -> str:
    """What tells one layout of these rows from another: a cache of an older Sandgate is not read."""
    return hashlib.sha256(attempts_sql("lines").encode()).hexdigest()[:8]


def _read_as(column: Column) -> str:
    """Times are read as text, and as a time only where the rows are made: they carry a time zone."""
    if column.inner or column.type == "JSON":
        return "JSON"
    return "VARCHAR" if column.type == "TIMESTAMP" else column.type


def _columns(columns: Sequence[Column], tables: dict[str, str]) -> str:
    return ", ".join(f"{_value(one, tables)} AS {_name(one.name)}" for one in columns)


def _value(column: Column, tables: dict[str, str]) -> str:
    if column.source not in tables:
        return f"NULL::{column.type}"
    table, field = tables[column.source], _name(column.field)
    value = f"{table}.{field}" if table else f"coalesce(o.{field}, d.{field})"
    if column.inner:
        value = f"json_extract_string({value}, {_text('$.' + column.inner)})"
    if column.type == "TIMESTAMP":
        return f"(TRY_CAST({value} AS TIMESTAMPTZ) AT TIME ZONE 'UTC')"
    return f"TRY_CAST({value} AS {column.type})" if column.inner else value


def _name(name: str) -> str:
    return f'"{name}"'


def _text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
