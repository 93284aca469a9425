"""What a run may do with the tools of its connections: modes, bounds of arguments, scopes [pure].

The form that engagements have had from the beginning, a list of tools for each connection, means: these
tools, in the mode `write`, and no others.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from typing import Literal


class Mode(StrEnum):
    """How a tool may be called."""

    READ = "read"
    WRITE = "write"
    APPROVAL = "approval"
    FORBIDDEN = "forbidden"


MODES: Mapping[Mode, str] = {
    Mode.READ: "It is called at once; it changes nothing.",
    Mode.WRITE: "It is called at once, but for what people wrote last: that is held.",
    Mode.APPROVAL: "Every call waits for a person.",
    Mode.FORBIDDEN: "It is never called, and not shown to the agent.",
}


@dataclass(frozen=True, slots=True)
class ToolRule:
    """How one tool may be called."""

    mode: Mode = Mode.WRITE
    arguments: str = ""
    """A JSON Schema, as JSON, that the arguments have to fit; empty: any."""
    beyond: Literal["deny", "hold"] = "deny"
    """What becomes of a call whose arguments don't fit."""
    two_people: bool = False
    """Whether two people have to allow a call that is held."""


@dataclass(frozen=True, slots=True)
class Scope:
    """What the calls of a connection may be about. None: anything."""

    projects: frozenset[str] | None = None
    types: frozenset[str] | None = None
    """Of work items that are made or changed, where a call names one."""
    repositories: frozenset[str] | None = None
    queries: frozenset[str] | None = None
    """Searches, word for word, where a call is one."""


@dataclass(frozen=True, slots=True)
class About:
    """What a call is about; empty where it names none."""

    projects: frozenset[str] = frozenset()
    types: frozenset[str] = frozenset()
    repositories: frozenset[str] = frozenset()
    queries: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of a call besides its arguments, from us and not from the server that it is for."""

    about: About | None = None
    """None: nobody says it; it is told by the arguments' names."""
    changed: bool = False
    """Whether the tool is another than the one that a person has looked at."""
    of_people: tuple[str, ...] = ()
    """What the call changes and a person wrote last."""
    said: Mode | None = None
    """What is said of the tool for all who use its connection; None: nothing."""


type Others = Literal[Mode.APPROVAL, Mode.FORBIDDEN]


@dataclass(frozen=True, slots=True)
class ConnectionRules:
    """What may be done at one connection."""

    tools: Mapping[str, ToolRule] = field(default_factory=dict)
    others: Others = Mode.APPROVAL
    """The mode of tools that are not named: nobody has looked at them."""
    scope: Scope = field(default_factory=Scope)


@lru_cache(1024)
def listed(tools: frozenset[str]) -> ConnectionRules:
    """What a list of tools means."""
    return ConnectionRules({name: ToolRule() for name in sorted(tools)}, Mode.FORBIDDEN)


@dataclass(frozen=True, slots=True)
class StandingRule:
    """What a person has allowed for more than one call."""

    id: str
    connection: str
    tool: str
    arguments: str
    """A JSON Schema, as JSON, that the arguments have to fit."""
