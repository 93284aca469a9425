"""Tools, of our own and as servers list them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from entrance.session import Session
from entrance.tool_policy import Change, Facts


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool as MCP lists it. `input_schema` is JSON Schema. `read_only`: it changes nothing."""

    name: str
    description: str
    input_schema: Mapping[str, Any]
    read_only: bool = False
    listed: Mapping[str, Any] = field(default_factory=dict)
    """As its server lists it; empty for tools of our own."""


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool answered: text for the agent, `is_error` when the call failed."""

    text: str
    is_error: bool = False
    touched: tuple[str, ...] = ()
    """Ids of the records that the call read or changed, for the run's ledger."""


class ToolProvider(Protocol):
    """One connection's tools."""

    @property
    def connection(self) -> str:
        """The connection's name, as grants name it."""
        ...

    async def tools(self, session: Session) -> Sequence[Tool]:
        """Everything the connection offers; the gateway shows only what was granted."""
        ...

    async def call(self, session: Session, tool: str, arguments: Mapping[str, Any]) -> ToolResult:
        """Do it. Bad arguments and refusals by the far side come back as an error result.

        Raises: Unavailable when the far side can't be reached.
        """
        ...


@runtime_checkable
class Remembers(Protocol):
    """A provider that does not ask for its tools each time."""

    def doubt(self, session: Session) -> bool:
        """What it knows may be out of date; whether it asks anew, as that was not just done."""
        ...


@runtime_checkable
class TellsFacts(Protocol):
    """A provider that knows more of a call than its arguments say."""

    async def facts(self, session: Session, tool: str, arguments: Mapping[str, Any]) -> Facts:
        """What a call would be about, and change. Arguments were not checked yet.

        Raises: Unavailable; then the call is refused.
        """
        ...


class ResultFiles(Protocol):
    """Where results go that are too large to be told: into the sandbox of the run that called."""

    async def keep(self, session: Session, name: str, content: bytes) -> str:
        """Write a file, of a name that we have given it; its path there.

        Raises: Unavailable; NotFound when the sandbox is gone; Conflict when the run has too much there.
        """
        ...


@dataclass(frozen=True, slots=True)
class Pinned:
    """A tool against what is known of it. `listed`: as agents may see it; None: they may not."""

    listed: Mapping[str, Any] | None
    change: Change = Change.NONE


class Pins(Protocol):
    """Remembers tools of servers as they were when they were granted, and asks people about changes."""

    @property
    def turn(self) -> int:
        """It is another one whenever something was decided."""
        ...

    async def compared(
        self, session: Session, connection: str, tools: Sequence[Mapping[str, Any]]
    ) -> Mapping[str, Pinned]:
        """How each of these tools, which are granted, stands as it is offered to the session now.

        One that was never seen is remembered as it is. About one that has changed people are asked.
        Raises: Unavailable.
        """
        ...

    async def told(self, session: Session, connection: str, tool: str) -> str:
        """What an agent is told of a call that is held because its tool has changed.

        Raises: Unavailable; Conflict when nobody can be asked about it.
        """
        ...
