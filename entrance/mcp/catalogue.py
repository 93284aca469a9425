"""The names under which a session sees what its connections offer [pure].

What was granted by name has a name that is made of the grants alone: it is the same whatever servers offer
today, in whichever order, and whether they can be reached. It is the connection's own where every client
takes it; where two connections have the same one granted, both carry their connection's name in front, so
that neither hides the other (CASE-65). What nobody has named carries it in any case.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from entrance.mcp import schemas
from entrance.mcp.arguments import Shape
from entrance.mcp.messages import Json
from entrance.mcp.names import fitting, marked
from entrance.tool_policy import Change


@dataclass(frozen=True, slots=True)
class Entry:
    """One tool or prompt: the name it is shown under, whose it is, and how its connection has it."""

    shown: str
    connection: str
    name: str
    listed: Json
    """As MCP lists it."""
    schema: Json
    """Of a tool's arguments, as calls are checked against it."""
    trouble: str
    """Why it isn't the tool's own; empty when it is."""
    shape: Shape
    """The same schema, for arguments to be held against."""
    change: Change = Change.NONE
    """Whether it has changed since a person looked; then `listed` is how it was."""
    hidden: bool = False
    """Whether agents don't see it until a person has looked."""


@dataclass(frozen=True, slots=True)
class Granted:
    """What is granted at a connection: by name, and whether the others are to be seen, too."""

    names: frozenset[str] = frozenset()
    others: bool = False


NOTHING = Granted()


def catalogue(
    offered: Mapping[str, Sequence[Json]], granted: Mapping[str, Granted]
) -> dict[str, Entry]:
    """Everything that is offered, by the name that it is shown under.

    What is neither granted nor seen is in it, too, as it is named by its connection, but where that name is
    another's: so a refusal can tell that there is such a thing.
    """
    names = names_of({connection: each.names for connection, each in granted.items()})
    mine = [(name, each) for name, many in sorted(offered.items()) for each in named(many)]
    seen = [(name, each) for name, each in mine if granted.get(name, NOTHING).others]
    names |= _of_others([(name, each["name"]) for name, each in seen], names)
    taken = set(names.values())
    entries: dict[str, Entry] = {}
    for connection, each in mine:
        shown = names.get((connection, each["name"]), "")
        if not shown and each["name"] in taken:
            continue
        shown = shown or each["name"]
        entries.setdefault(shown, _entry(shown, connection, each))
    return entries


def names_of(granted: Mapping[str, frozenset[str]]) -> dict[tuple[str, str], str]:
    """By connection and tool, the names of what is granted by name."""
    mine = sorted((connection, tool) for connection, tools in granted.items() for tool in tools)
    plain = Counter(fitting(tool) for _, tool in mine)
    prefixed = Counter(
        fitting(f"{connection}_{tool}") for connection, tool in mine if plain[fitting(tool)] > 1
    )
    names: dict[tuple[str, str], str] = {}
    taken: set[str] = set()
    for connection, tool in mine:
        shown = fitting(tool)
        if plain[shown] > 1 or shown in prefixed:
            shown = fitting(f"{connection}_{tool}")
        if prefixed[shown] > 1 or shown in taken:
            shown = marked(shown, f"{connection} {tool}")
        names[connection, tool] = shown
        taken.add(shown)
    return names


def named(many: Sequence[Any]) -> list[Json]:
    """Those that have a name; a name that comes twice counts once."""
    found: dict[str, Json] = {}
    for each in many:
        name = each.get("name") if isinstance(each, dict) else None
        if isinstance(name, str) and name:
            found.setdefault(name, each)
    return list(found.values())


def _of_others(
    seen: Sequence[tuple[str, str]], names: Mapping[tuple[str, str], str]
) -> dict[tuple[str, str], str]:
    """The names of what is seen without being named."""
    others = sorted(set(seen) - names.keys())
    prefixed = Counter(fitting(f"{connection}_{tool}") for connection, tool in others)
    taken, found = set(names.values()), {}
    for connection, tool in others:
        shown = fitting(f"{connection}_{tool}")
        if shown in taken or prefixed[shown] > 1:
            shown = marked(shown, f"{connection} {tool}")
        found[connection, tool] = shown
    return found


def _entry(shown: str, connection: str, each: Json) -> Entry:
    schema, trouble = schemas.shown(each["inputSchema"]) if "inputSchema" in each else ({}, "")
    return Entry(shown, connection, each["name"], each, schema, trouble, Shape(schema))
