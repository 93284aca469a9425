"""Which SQL may be asked of the log: one query of `attempts`, and nothing that does anything else.

DuckDB parses the text and says what it is as JSON; what is not known to be harmless is refused. That
is needed although files are out of reach: a query may hold a COPY inside of it, and the files that the
rows are read from are open for both.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import duckdb
import orjson

TABLE = "attempts"
_NODES = frozenset({"SELECT_NODE", "SET_OPERATION_NODE", "RECURSIVE_CTE_NODE", "CTE_NODE"})
TABLE_FUNCTIONS = frozenset({"generate_series", "json_each", "json_tree", "range", "unnest"})


class QueryRefused(Exception):
    """The query won't be run, or could not be; the message says why."""


def check(connection: duckdb.DuckDBPyConnection, sql: str) -> None:
    """Let a query pass that only reads `attempts`. Raises: QueryRefused."""
    if trouble := _trouble(_tree(connection, sql)):
        raise QueryRefused(trouble)


def _tree(connection: duckdb.DuckDBPyConnection, sql: str) -> Mapping[str, Any]:
    found = connection.execute("SELECT json_serialize_sql(?::VARCHAR)", [sql]).fetchone()
    tree: Mapping[str, Any] = orjson.loads(found[0]) if found else {"error": True}
    if tree["error"]:
        said = str(tree.get("error_message", "it can't be read"))
        raise QueryRefused(f"this is no query: {said}")
    return tree


def _trouble(tree: Mapping[str, Any]) -> str:
    """Why the query is refused; empty when it isn't."""
    if len(tree["statements"]) != 1:
        return "one query at a time"
    own = {TABLE, *_named(tree)}
    for part in _parts(tree):
        kind = part.get("type")
        if isinstance(kind, str) and kind.endswith("_NODE") and kind not in _NODES:
            return f"only SELECT may be asked: there is a {kind.removesuffix('_NODE')} in it"
        if kind == "BASE_TABLE" and not _is_own(part, own):
            return f"there is no table {part['table_name']} here: the log's is called {TABLE}"
        if kind == "TABLE_FUNCTION" and (name := _function(part)) not in TABLE_FUNCTIONS:
            return f"the function {name} may not be read from here"
    return ""


def _named(tree: Mapping[str, Any]) -> Iterator[str]:
    """The names that the query itself gives to tables (WITH)."""
    for part in _parts(tree):
        named = part.get("cte_map")
        if isinstance(named, Mapping):
            yield from (str(entry["key"]).lower() for entry in named["map"])


def _is_own(table: Mapping[str, Any], own: set[str]) -> bool:
    elsewhere = table.get("catalog_name") or table.get("schema_name")
    return not elsewhere and str(table["table_name"]).lower() in own


def _function(table: Mapping[str, Any]) -> str:
    function = table["function"]
    elsewhere = function.get("catalog") or function.get("schema")
    name = str(function.get("function_name", "")).lower()
    return f"{elsewhere}.{name}" if elsewhere else name


def _parts(value: object) -> Iterator[Mapping[str, Any]]:
    """Every object in the tree."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, Mapping):
            yield one
            waiting.extend(one.values())
        elif isinstance(one, list):
            waiting.extend(one)
