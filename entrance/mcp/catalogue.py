"""The names under which a session sees what its connections offer [pure].

A tool keeps its connection's own name where every client takes it; where two connections offer the
same one, both carry their connection's name in front, so that neither hides the other (CASE-65).
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from entrance.mcp import schemas
from entrance.mcp.messages import Json
from entrance.mcp.names import fitting, marked


@dataclass(frozen=True, slots=True)
class Entry:
    """One tool or prompt: the name it is shown under, whose it is, and how its connection has it."""

    shown: str
    connection: str
    name: str
    listed: Json
    """As MCP lists it."""
    schema: Json
    """Of a tool's arguments, as it is shown."""
    trouble: str = ""
    """Why it isn't the tool's own."""


def catalogue(offered: Mapping[str, Sequence[Json]]) -> dict[str, Entry]:
    """Everything that is offered, by the name that it is shown under; the order does not matter."""
    mine = [(name, each) for name, many in sorted(offered.items()) for each in named(many)]
    plain = Counter(fitting(each["name"]) for _, each in mine)
    prefixed = {
        fitting(f"{connection}_{each['name']}")
        for connection, each in mine
        if plain[fitting(each["name"])] > 1
    }
    entries: dict[str, Entry] = {}
    for connection, each in mine:
        name = each["name"]
        shown = fitting(name)
        if plain[shown] > 1 or shown in prefixed:
            shown = fitting(f"{connection}_{name}")
        if shown in entries:
            shown = marked(shown, f"{connection} {name}")
        schema, trouble = schemas.shown(each["inputSchema"]) if "inputSchema" in each else ({}, "")
        entries[shown] = Entry(shown, connection, name, each, schema, trouble)
    return entries


def named(many: Sequence[Any]) -> list[Json]:
    """Those that have a name; a name that comes twice counts once."""
    found: dict[str, Json] = {}
    for each in many:
        name = each.get("name") if isinstance(each, dict) else None
        if isinstance(name, str) and name:
            found.setdefault(name, each)
    return list(found.values())
