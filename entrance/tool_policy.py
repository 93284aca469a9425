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
    approval: str = ""
    """The inbox's item by which a person has granted it; empty when the engagement does."""


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


class Change(StrEnum):
    """How a tool stands against what is known of it."""

    NONE = ""
    UNSEEN = "unseen"
    """Its words or schema are other than when a person looked, and no person has looked since."""
    DENIED = "denied"
    """A person has looked, and doesn't want it as it is."""


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of a call besides its arguments, from us and not from the server that it is for."""

    about: About | None = None
    """None: nobody says it; it is told by the arguments' names."""
    changed: Change = Change.NONE
    """Whether the tool is another than the one that a person has looked at."""
    of_people: tuple[str, ...] = ()
    """What the call changes and a person wrote last."""
    said: Mode | None = None
    """What is said of the tool for all who use its connection; None: nothing."""


Ask = Literal["sampling", "elicitation", "roots"]
"""What a server may ask back of the client that called it."""


@dataclass(frozen=True, slots=True)
class BeyondTools:
    """What may be used of a connection beside its tools. Nothing, unless it says so."""

    prompts: frozenset[str] = frozenset()
    resources: tuple[str, ...] = ()
    """URIs; one that ends in `*` stands for all that begin with it."""
    asks: frozenset[Ask] = frozenset()
    """What the connection's server may ask back; everything else is refused in the run's name."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """What is said of a connection for all who use it; None: nothing. A grant can only be stricter."""

    prompts: frozenset[str] | None = None
    resources: tuple[str, ...] | None = None
    asks: frozenset[Ask] | None = None


type Others = Literal[Mode.APPROVAL, Mode.FORBIDDEN]


@dataclass(frozen=True, slots=True)
class ConnectionRules:
    """What may be done at one connection."""

    tools: Mapping[str, ToolRule] = field(default_factory=dict)
    others: Others = Mode.APPROVAL
    """The mode of tools that are not named: nobody has looked at them."""
    scope: Scope = field(default_factory=Scope)
    more: BeyondTools = field(default_factory=BeyondTools)


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
