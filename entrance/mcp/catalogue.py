"""The names under which a session sees its tools [pure].

A tool keeps its provider's name; where two connections offer the same one, both carry their
connection's name in front, so that neither hides the other (CASE-65).
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, count

from entrance.mcp.policy import is_shown
from entrance.ports import Tool
from entrance.session import Session


@dataclass(frozen=True, slots=True)
class Entry:
    """One tool in the catalogue: the name it is shown under, and whose it is."""

    shown: str
    connection: str
    tool: Tool


def catalogue(offered: Mapping[str, Sequence[Tool]]) -> dict[str, Entry]:
    """Everything that is offered, by the name that it is shown under; the order does not matter."""
    tools = [(name, tool) for name, tools in sorted(offered.items()) for tool in tools]
    plain = Counter(tool.name for _, tool in tools)
    double = {f"{name}_{tool.name}" for name, tool in tools if plain[tool.name] > 1}
    entries: dict[str, Entry] = {}
    for connection, tool in tools:
        alone = plain[tool.name] == 1 and tool.name not in double
        shown = _free(tool.name if alone else f"{connection}_{tool.name}", entries)
        entries[shown] = Entry(shown, connection, tool)
    return entries


def _free(name: str, taken: Mapping[str, Entry]) -> str:
    """The name, with a number behind it when even this one is taken."""
    numbered = (f"{name}_{number}" for number in count(2))
    return next(each for each in chain([name], numbered) if each not in taken)


def granted(session: Session, entries: Mapping[str, Entry]) -> list[Entry]:
    """The entries that the session may call, or ask to call, by name."""
    return [
        entry
        for _, entry in sorted(entries.items())
        if is_shown(session, entry.connection, entry.tool.name)
    ]
