"""A server of others as a connection: its era found, one session a run kept, its lists remembered."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import structlog

from entrance.errors import Malformed, NotFound
from entrance.mcp.connection import Caller, Kind, Tell
from entrance.mcp.messages import METHOD_NOT_FOUND, Failure, Json
from entrance.mcp.results import text_result
from entrance.mcp.upstream import wire
from entrance.mcp.upstream.endpoint import Endpoint
from entrance.mcp.upstream.handshake import HandshakeSession
from entrance.mcp.upstream.modern import ModernServer
from entrance.session import Session

log = structlog.get_logger()

REMEMBERED_S = 60.0
"""So long a list stands, unless the server tells that it has changed."""
IDLE_S = 1800.0
_MOST_PAGES = 50
_MOST_OF_A_KIND = 2000
_LISTS: Mapping[Kind, tuple[str, str, str]] = {
    "tools": ("tools/list", "tools", "tools"),
    "prompts": ("prompts/list", "prompts", "prompts"),
    "resources": ("resources/list", "resources", "resources"),
    "resources/templates": ("resources/templates/list", "resourceTemplates", "resources"),
}
"""How a kind is asked for, where it stands in the answer, and the capability that it takes."""
_HANDSHAKE_ONLY = frozenset({"resources/subscribe", "resources/unsubscribe", "logging/setLevel"})

Leg = HandshakeSession | ModernServer


@dataclass
class _Kept:
    """What is kept for one run."""

    session: HandshakeSession | None = None
    lists: dict[tuple[str, Kind], tuple[float, Sequence[Json]]] = field(default_factory=dict)
    opening: asyncio.Lock = field(default_factory=asyncio.Lock)
    used_at: float = 0.0


class ServerConnection:
    """Implements `connection.Connection`. `clock` counts seconds."""

    foreign = True
    provider = None

    def __init__(self, name: str, endpoint: Endpoint, clock: Callable[[], float]) -> None:
        self.name = name
        self._endpoint = endpoint
        self._clock = clock
        self._modern = ModernServer(name, endpoint, self._changed)
        self._is_modern: bool | None = None
        self._shakes_hands = True
        self._runs: dict[str, _Kept] = {}

    async def listed(self, caller: Caller, kind: Kind) -> Sequence[Json]:
        kept = self._kept(caller.session)
        key = (caller.back.era, kind)
        at, many = kept.lists.get(key, (0.0, ()))
        if key in kept.lists and self._clock() - at < REMEMBERED_S:
            return many
        many = await self._with_leg(caller, lambda leg: self._pages(caller, leg, kind))
        kept.lists[key] = (self._clock(), many)
        return many

    async def do(self, caller: Caller, method: str, params: Json) -> Json | Failure:
        sent = wire.passed_on(method, params)
        if isinstance(meta := params.get("_meta"), dict):
            sent["_meta"] = meta
        repeated = await self._repeated(caller, method, params)

        async def done(leg: Leg) -> Json | Failure:
            if isinstance(leg, HandshakeSession):
                sent.pop("inputResponses", None)
                return await leg.request(caller, method, sent)
            if method in _HANDSHAKE_ONLY:
                return Failure(METHOD_NOT_FOUND, f"{self.name} doesn't serve {method}")
            return await leg.request(caller, method, sent, repeated)

        return _for_era(caller, method, await self._with_leg(caller, done))

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
        kept = self._runs.setdefault(session.token_sha256, _Kept())
        kept.used_at = self._clock()
        return kept

    async def _with_leg[T](self, caller: Caller, work: Callable[[Leg], Any]) -> T:
        """Do the work on the right leg; again only when the server had forgotten the session."""
        leg = await self._leg(caller)
        try:
            found: T = await work(leg)
        except NotFound:
            if not isinstance(leg, HandshakeSession):
                raise
            kept = self._kept(caller.session)
            if kept.session is leg:
                kept.session = None
            found = await work(await self._leg(caller))
        return found

    async def _leg(self, caller: Caller) -> Leg:
        """The client's own era where the server speaks it, else the other."""
        if caller.back.era == "modern" or not self._shakes_hands:
            if self._is_modern is None:
                self._is_modern = await self._modern.discover(caller)
            if self._is_modern:
                return self._modern
        return await self._session(caller)

    async def _session(self, caller: Caller) -> Leg:
        kept = self._kept(caller.session)
        async with kept.opening:
            if kept.session is None:
                await self._give_up_idle()
                session = HandshakeSession(self.name, self._endpoint, self._changed)
                refused = await session.begin(caller)
                if refused is not None:
                    return await self._modern_after(caller, refused)
                kept.session = session
            return kept.session

    async def _modern_after(self, caller: Caller, refused: Failure) -> Leg:
        if await self._modern.discover(caller):
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

    async def _pages(self, caller: Caller, leg: Leg, kind: Kind) -> Sequence[Json]:
        method, place, capability = _LISTS[kind]
        if capability not in leg.capabilities:
            return ()
        found: list[Json] = []
        params: dict[str, Any] = {}
        for _ in range(_MOST_PAGES):
            page = await leg.request(caller, method, params)
            if isinstance(page, Failure):
                raise Malformed(f"{self.name} refuses {method}: {page.message[:200]}")
            many = page.get(place)
            found += (
                [each for each in many if isinstance(each, dict)] if isinstance(many, list) else []
            )
            cursor = page.get("nextCursor")
            if not isinstance(cursor, str) or len(found) >= _MOST_OF_A_KIND:
                break
            params = {"cursor": cursor}
        return found[:_MOST_OF_A_KIND]

    async def _repeated(self, caller: Caller, method: str, params: Json) -> dict[str, str]:
        if method != "tools/call" or caller.back.era != "modern":
            return {}
        tools = await self.listed(caller, "tools")
        tool = next((each for each in tools if each.get("name") == params["name"]), {})
        return wire.parameters(tool, params.get("arguments") or {})

    def _changed(self, method: str) -> None:
        kind = method.removeprefix("notifications/").removesuffix("/list_changed")
        if not method.endswith("/list_changed"):
            return
        for kept in self._runs.values():
            for key in [key for key in kept.lists if key[1].startswith(kind)]:
                del kept.lists[key]


def _for_era(caller: Caller, method: str, result: Json | Failure) -> Json | Failure:
    """A result that a client of its era can read."""
    if isinstance(result, Failure) or caller.back.era == "modern":
        return result
    if result.get("resultType") == "input_required":
        if method == "tools/call":
            return text_result("It asks for more, which can't be given here.", is_error=True)
        return Failure(METHOD_NOT_FOUND, "It asks for more, which can't be given here")
    return result
