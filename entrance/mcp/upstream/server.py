"""A server of others as a connection: its era found, one session a run kept, its lists remembered."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

import structlog

from entrance.errors import Malformed, NotFound
from entrance.mcp.connection import Caller, Kind, Tell
from entrance.mcp.messages import METHOD_NOT_FOUND, Failure, Json
from entrance.mcp.results import in_words
from entrance.mcp.upstream import wire
from entrance.mcp.upstream.carrier import Carrier
from entrance.mcp.upstream.endpoint import Endpoint
from entrance.mcp.upstream.handshake import HandshakeSession
from entrance.mcp.upstream.modern import ModernServer, NotSpoken
from entrance.mcp.upstream.pages import Leg, all_of_kind
from entrance.mcp.upstream.param_headers import param_headers
from entrance.mcp.upstream.rounds import in_rounds
from entrance.mcp.upstream.run_lists import RunLists
from entrance.session import Session
from entrance.tool_policy import Bounds

log = structlog.get_logger()

IDLE_S = 1800.0
_HANDSHAKE_ONLY = frozenset({"resources/subscribe", "resources/unsubscribe", "logging/setLevel"})


@dataclass(frozen=True, slots=True)
class Reached:
    """How a server is reached: `carrier` makes the way of one session.

    `modern`: where it is asked without one, if the transport has that.
    """

    name: str
    carrier: Callable[[], Carrier]
    modern: Endpoint | None = None


@dataclass
class _Kept:
    """What is kept for one run."""

    lists: RunLists
    session: HandshakeSession | None = None
    opening: asyncio.Lock = field(default_factory=asyncio.Lock)
    used_at: float = 0.0


class ServerConnection:
    """Implements `connection.Connection`. `clock` counts seconds."""

    foreign = True
    provider = None
    facts = None

    def __init__(
        self, reached: Reached, clock: Callable[[], float], bounds: Bounds | None = None
    ) -> None:
        self.name = reached.name
        self.bounds = bounds or Bounds()
        self._carrier = reached.carrier
        self._clock = clock
        endpoint = reached.modern
        self._modern = ModernServer(self.name, endpoint, self._changed) if endpoint else None
        self._is_modern: bool | None = None
        self._shakes_hands = True
        self._runs: dict[str, _Kept] = {}
        self._latest: dict[tuple[str, Kind], Sequence[Json]] = {}

    async def listed(self, caller: Caller, kind: Kind) -> Sequence[Json]:
        era = caller.back.era

        async def ask() -> Sequence[Json]:
            many = await self._with_leg(
                caller, lambda leg: all_of_kind(caller, self.name, leg, kind)
            )
            if many == self._latest.get((era, kind)):
                many = self._latest[era, kind]  # one for all runs: what is made of it is made once
            self._latest[era, kind] = many
            return many

        return await self._kept(caller.session).lists.of(era, kind, ask)

    def at_hand(self, caller: Caller, kind: Kind) -> Sequence[Json] | None:
        kept = self._runs.get(caller.session.token_sha256)
        return kept.lists.at_hand(caller.back.era, kind) if kept else None

    def doubt(self, session: Session, kind: Kind) -> bool:
        kept = self._runs.get(session.token_sha256)
        return kept is not None and kept.lists.doubt(kind)

    async def do(self, caller: Caller, method: str, params: Json) -> Json | Failure:
        sent = wire.passed_on(method, params)
        if isinstance(meta := params.get("_meta"), dict):
            sent["_meta"] = meta

        async def done(leg: Leg) -> Json | Failure:
            if isinstance(leg, HandshakeSession):
                return await leg.request(caller, method, wire.without_rounds(sent))
            if method in _HANDSHAKE_ONLY:
                return Failure(METHOD_NOT_FOUND, f"{self.name} doesn't serve {method}")
            repeated = await self._repeated(caller, method, sent)
            return await in_rounds(
                caller,
                self.name,
                method,
                lambda further: leg.request(caller, method, sent | further, repeated),
            )

        result = await self._with_leg(caller, done)
        return result if isinstance(result, Failure) else in_words(result)

    async def listen(self, caller: Caller, wanted: Json, tell: Tell) -> None:
        async def listening(leg: Leg) -> None:
            if isinstance(leg, HandshakeSession):
                await leg.listen(caller, tell)
            else:
                await leg.listen(caller, wanted, tell)

        await self._with_leg(caller, listening)

    async def leave(self, session: Session) -> None:
        kept = self._runs.pop(session.token_sha256, None)
        if kept is not None and kept.session is not None:
            await kept.session.end()

    async def close(self) -> None:
        """Give up every run's session."""
        while self._runs:
            _, kept = self._runs.popitem()
            if kept.session is not None:
                await kept.session.end()

    def _kept(self, session: Session) -> _Kept:
        kept = self._runs.get(session.token_sha256)
        if kept is None:
            kept = self._runs[session.token_sha256] = _Kept(RunLists(self._clock))
        kept.used_at = self._clock()
        return kept

    async def _with_leg[T](self, caller: Caller, work: Callable[[Leg], Awaitable[T]]) -> T:
        """Do the work on the right leg; again only when the server has forgotten that, and took nothing."""
        leg = await self._leg(caller)
        try:
            return await work(leg)
        except NotFound as error:
            if isinstance(leg, HandshakeSession):
                await self._forget(caller.session, leg)
            elif isinstance(error, NotSpoken):
                self._is_modern, self._shakes_hands = None, True
            else:
                raise
        return await work(await self._leg(caller))

    async def _forget(self, session: Session, leg: HandshakeSession) -> None:
        kept = self._kept(session)
        if kept.session is leg:
            kept.session = None
        await leg.end()

    async def _leg(self, caller: Caller) -> Leg:
        """The client's own era where the server speaks it, else the other."""
        wanted = caller.back.era == "modern" or not self._shakes_hands
        if self._modern is not None and wanted:
            if self._is_modern is None:
                self._is_modern = await self._modern.discover(caller)
            if self._is_modern:
                return self._modern
        return await self._session(caller)

    async def _session(self, caller: Caller) -> Leg:
        kept = self._kept(caller.session)
        async with kept.opening:
            if kept.session is not None and kept.session.over:
                await kept.session.end()
                kept.session = None
            if kept.session is None:
                await self._give_up_idle()
                session = HandshakeSession(self.name, self._carrier(), self._changed)
                refused = await session.begin(caller)
                if refused is not None:
                    return await self._modern_after(caller, refused)
                kept.session = session
            return kept.session

    async def _modern_after(self, caller: Caller, refused: Failure) -> Leg:
        if self._modern is not None and await self._modern.discover(caller):
            self._is_modern, self._shakes_hands = True, False
            return self._modern
        raise Malformed(f"{self.name} refuses to begin a session: {refused.message[:200]}")

    async def _give_up_idle(self) -> None:
        now = self._clock()
        for token, kept in list(self._runs.items()):
            if now - kept.used_at > IDLE_S:
                del self._runs[token]
                if kept.session is not None:
                    await kept.session.end()

    async def _repeated(self, caller: Caller, method: str, params: Json) -> dict[str, str]:
        if method != "tools/call":
            return {}
        tools = await self.listed(caller, "tools")
        tool = next((each for each in tools if each.get("name") == params["name"]), {})
        return param_headers(tool, params.get("arguments") or {})

    def _changed(self, method: str) -> None:
        what = method.removeprefix("notifications/").removesuffix("/list_changed")
        if not method.endswith("/list_changed"):
            return
        for kept in self._runs.values():
            kept.lists.changed(what)
