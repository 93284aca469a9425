"""What the gateway needs of a connection, and our own tools as one."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from entrance.decision import Decision
from entrance.errors import Malformed, SandgateError, Unavailable
from entrance.gated import Gate, open_gate
from entrance.mcp.messages import Era, Failure, Json
from entrance.mcp.results import text_result
from entrance.ports import TellsFacts, Tool, ToolProvider
from entrance.session import Session
from entrance.tool_policy import Ask, Bounds

Kind = Literal["tools", "prompts", "resources", "resources/templates"]
TOUCHED = "sandgate/touched"
"""Where our own tools say in `_meta` which records they read or changed; it does not leave the door."""


class Lost(SandgateError):
    """What was asked for was sent, and no answer came: it is not known whether it was done."""


class Unreadable(Malformed):
    """What was asked for was sent, and what came can't be read: it is not known whether it was done."""


class Starting(Unavailable):
    """What is asked for isn't there yet, or can't be had; the message is for the agent."""


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

    `may_ask` decides on what a connection's server asks back, and records that; `asks` is all that it may.
    What is to be done leaves only when `may_leave` returns: then the decision about it is on the disk.
    """

    session: Session
    back: Back
    may_ask: Callable[[str, Ask | None, Json], Awaitable[Decision]]
    asks: Callable[[str], frozenset[Ask]] = lambda _connection: frozenset()
    may_leave: Gate = open_gate


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
    def bounds(self) -> Bounds:
        """What is said of it, beside its tools, for all who use it."""
        ...

    @property
    def provider(self) -> ToolProvider | None:
        """Our own tools themselves, where they are ours."""
        ...

    @property
    def facts(self) -> TellsFacts | None:
        """Who knows more of a call than its arguments say; None: nobody does."""
        ...

    async def listed(self, caller: Caller, kind: Kind) -> Sequence[Json]:
        """All that it offers of a kind, as MCP lists it. Raises: SandgateError."""
        ...

    def at_hand(self, caller: Caller, kind: Kind) -> Sequence[Json] | None:
        """What it has listed, as long as that stands; None when it has to be asked."""
        ...

    def doubt(self, session: Session, kind: Kind) -> bool:
        """What it has listed may be out of date; whether it is asked for anew, as that was not just done."""
        ...

    async def do(self, caller: Caller, method: str, params: Json) -> Json | Failure:
        """Have something done, once: nothing is ever sent again that may have been done.

        Until the caller's `may_leave` returns, it is only prepared.

        Raises: Unavailable when it surely was not done; Lost or Unreadable when that isn't known;
        Malformed when it was refused in a way that can't be read.
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
    bounds = Bounds()

    def __init__(self, provider: ToolProvider) -> None:
        self.provider = provider
        self.facts = provider if isinstance(provider, TellsFacts) else None
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

    def at_hand(self, caller: Caller, kind: Kind) -> None:
        """Nothing: it is always asked."""

    def doubt(self, session: Session, kind: Kind) -> bool:
        del session, kind
        return False

    async def do(self, caller: Caller, method: str, params: Json) -> Json | Failure:
        del method  # nothing but tools is ever granted here
        arguments: Mapping[str, Any] = params.get("arguments") or {}
        await caller.may_leave()
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
