"""Queries made from values [pure]: a value is always quoted, so that it can't become a part of the query.

What a query finds is compared with the value once more by whoever asked: Polarion takes some
fields apart into words, and then finds more than what is equal.
"""

from collections.abc import Iterable, Mapping

Wanted = str | Iterable[str]
"""A field's value, or several of which it must have one."""


def matching(fields: Mapping[str, Wanted]) -> str:
    """A query for items that have all of these."""
    return " AND ".join(f"{name}:{_wanted(value)}" for name, value in fields.items())


def quoted(value: str) -> str:
    """A value as a phrase: nothing in it means anything any more."""
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _wanted(value: Wanted) -> str:
    if isinstance(value, str):
        return quoted(value)
    return f"({' OR '.join(quoted(one) for one in value)})"
