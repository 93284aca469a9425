"""What the gateway needs of a connection, and our own tools as one."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from entrance.decision import Decision
from entrance.errors import SandgateError
from entrance.mcp.messages import Era, Failure, Json
from entrance.mcp.results import text_result
from entrance.ports import Tool, ToolProvider
from entrance.session import Ask, Session

Kind = Literal["tools", "prompts", "resources", "resources/templates"]
TOUCHED = "sandgate/touched"
"""Where our own tools say in `_meta` which records they read or changed; it does not leave the door."""


class Lost(SandgateError):
    """What was asked for was sent, and no answer came: it is not known whether it was done."""


Tell = Callable[[str, Json], Awaitable[None]]
"""Tells the client something: method and parameters of a notification."""


class Back(Protocol):
    """The way back to the client, while something of it is being done."""

    @property
    def era(self) -> Era:
        """The client's era."""
        ...

    async def tell(self, method: str, params: Json) -> None:
        """Send it a notification."""
        ...

    async def ask(self, method: str, params: Json) -> Json | Failure:
        """Ask it something, and wait for what it answers. A failure when it can't be asked."""
        ...


@dataclass(frozen=True, slots=True)
class Caller:
    """On whose behalf a connection is used, and the way back.

    `may_ask` decides on what a connection's server asks back, and records that.
    """

    session: Session
    back: Back
    may_ask: Callable[[str, Ask | None, Json], Awaitable[Decision]]


class Connection(Protocol):
    """One connection: a server of others, or tools of our own."""

    @property
    def name(self) -> str:
        """As grants name it."""
        ...

    @property
    def foreign(self) -> bool:
        """Whether a server stands behind it that can tell, ask and be listened to."""
        ...

    @property
    def provider(self) -> ToolProvider | None:
        """Our own tools themselves, where they are ours."""
        ...

    async def listed(self, caller: Caller, kind: Kind) -> Sequence[Json]:
        """All that it offers of a kind, as MCP lists it. Raises: SandgateError."""
        ...

    async def do(self, caller: Caller, method: str, params: Json) -> Json | Failure:
        """Have something done, once: nothing is ever sent again that may have been done.

        Raises: Unavailable when it surely was not done; Malformed when the answer can't be read;
        Lost when it isn't known whether it was done.
        """
        ...

    async def listen(self, caller: Caller, wanted: Json, tell: Tell) -> None:
        """Pass on what the server tells of its own accord, until cancelled. `wanted`: the filter.

        Returns when there is nothing to listen to. Raises: SandgateError.
        """
        ...

    async def leave(self, session: Session) -> None:
        """The run has no client here any more: what was kept for it is given up."""
        ...


class Local:
    """Tools that are ours, as a connection."""

    foreign = False

    def __init__(self, provider: ToolProvider) -> None:
        self.provider = provider
        self._latest: tuple[Sequence[Tool], list[Json]] = ((), [])

    @property
    def name(self) -> str:
        return self.provider.connection

    async def listed(self, caller: Caller, kind: Kind) -> Sequence[Json]:
        if kind != "tools":
            return ()
        tools = await self.provider.tools(caller.session)
        before, listed = self._latest
        if tools is not before:
            listed = [_listed(tool) for tool in tools]
            self._latest = (tools, listed)
        return listed

    async def do(self, caller: Caller, method: str, params: Json) -> Json | Failure:
        del method  # nothing but tools is ever granted here
        arguments: Mapping[str, Any] = params.get("arguments") or {}
        result = await self.provider.call(caller.session, params["name"], arguments)
        told = text_result(result.text, is_error=result.is_error)
        return {**told, "_meta": {TOUCHED: list(result.touched)}}

    async def listen(self, caller: Caller, wanted: Json, tell: Tell) -> None:
        """Nothing is told here."""

    async def leave(self, session: Session) -> None:
        """Nothing is kept here."""


def _listed(tool: Tool) -> Json:
    return {
        "name": tool.name,
        "description": tool.description,
        "inputSchema": dict(tool.input_schema),
        "annotations": {"readOnlyHint": tool.read_only},
    }
