"""The names under which a session sees its tools [pure].

A tool keeps its provider's name; where two connections offer the same one, both carry their
connection's name in front, so that neither hides the other (CASE-65).
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from entrance.decision import Allow
from entrance.mcp.policy import decide
from entrance.ports import Tool
from entrance.session import Session


@dataclass(frozen=True, slots=True)
class Entry:
    """One tool in the catalogue: the name it is shown under, and whose it is."""

    shown: str
    connection: str
    tool: Tool


def catalogue(offered: Mapping[str, Sequence[Tool]]) -> dict[str, Entry]:
    """Everything that is offered, by the name that it is shown under."""
    times = Counter(tool.name for tools in offered.values() for tool in tools)
    entries: dict[str, Entry] = {}
    for connection, tools in sorted(offered.items()):
        for tool in tools:
            shown = tool.name if times[tool.name] == 1 else f"{connection}_{tool.name}"
            entries.setdefault(shown, Entry(shown, connection, tool))
    return entries


def granted(session: Session, entries: Mapping[str, Entry]) -> list[Entry]:
    """The entries that the session may call, by name."""
    return [
        entry
        for _, entry in sorted(entries.items())
        if isinstance(decide(session, entry.connection, entry.tool.name), Allow)
    ]
