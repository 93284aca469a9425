"""A server of the modern era, 2026-07-28: each request stands alone."""

from collections.abc import Callable
from itertools import count
from typing import Any

from entrance.errors import Malformed, NotFound
from entrance.mcp.connection import Caller, Lost, Tell
from entrance.mcp.messages import UNSUPPORTED_VERSION, Failure, Json
from entrance.mcp.upstream import wire
from entrance.mcp.upstream.answer import Answer
from entrance.mcp.upstream.conversing import told
from entrance.mcp.upstream.endpoint import Endpoint

_ACKNOWLEDGED = "notifications/subscriptions/acknowledged"


class NotSpoken(NotFound):
    """The server took nothing, as it doesn't speak the version. `spoken`: those that it names."""

    def __init__(self, spoken: tuple[str, ...]) -> None:
        super().__init__(f"the server doesn't speak {wire.MODERN}")
        self.spoken = spoken


class ModernServer:
    """`changed` hears each notification's method."""

    def __init__(self, name: str, endpoint: Endpoint, changed: Callable[[str], None]) -> None:
        self._name = name
        self._endpoint = endpoint
        self._changed = changed
        self._numbers = count(1)
        self.capabilities: Json = {}

    async def discover(self, caller: Caller) -> bool:
        """Whether the server speaks this version. Raises: Unavailable, Forbidden.

        One of the handshake era may answer anything to what it doesn't know, or fail.
        """
        try:
            result = await self._discovered(caller)
        except (Malformed, Lost, NotSpoken):
            return False
        if isinstance(result, Failure):
            return False
        versions = result.get("supportedVersions")
        if not isinstance(versions, list) or wire.MODERN not in versions:
            return False
        capabilities = result.get("capabilities")
        self.capabilities = capabilities if isinstance(capabilities, dict) else {}
        return True

    async def _discovered(self, caller: Caller) -> Json | Failure:
        try:
            return await self.request(caller, "server/discover", {})
        except NotSpoken as refusal:
            if wire.MODERN not in refusal.spoken:
                raise
            return await self.request(caller, "server/discover", {})

    async def request(
        self, caller: Caller, method: str, params: Json, repeated: Json | None = None
    ) -> Json | Failure:
        """Ask, and hear it out. `repeated`: headers that repeat arguments.

        Raises: NotSpoken; and as `Endpoint.say`.
        """
        token = params.get("_meta", {}).get("progressToken")
        message = self._message(caller, method, params)
        number, headers = message["id"], self._headers(message, repeated)

        async def hear(said: Json, answer: Answer) -> Json | Failure | None:
            if "method" not in said:
                mine = wire.is_answer(said, number, answer.status)
                return _spoken(wire.outcome(said, answer.status)) if mine else None
            self._changed(str(said["method"]))
            await told(caller, said, token, number)
            return None

        outcome = await self._endpoint.say(message, headers, hear, caller.may_leave, resumes=False)
        if outcome is None:
            raise Lost(f"{self._name} ended its answer without a result")
        return outcome

    async def listen(self, caller: Caller, wanted: Json, tell: Tell) -> None:
        """Pass on what comes by itself, until cancelled or the server ends it."""
        message = self._message(caller, "subscriptions/listen", {"notifications": wanted})

        async def hear(said: Json, _: Answer) -> None:
            method, params = said.get("method"), said.get("params")
            if isinstance(method, str) and method != _ACKNOWLEDGED:
                self._changed(method)
                await tell(method, params if isinstance(params, dict) else {})

        headers = self._headers(message, None)
        await self._endpoint.say(message, headers, hear, caller.may_leave, resumes=False)

    def _message(self, caller: Caller, method: str, params: Json) -> dict[str, Any]:
        number, asks, meta = next(self._numbers), caller.asks(self._name), params.get("_meta", {})
        if caller.back.era == "handshake":  # it says nothing of itself in its requests
            meta = {**meta, wire.CAPABILITIES_KEY: {ask: {} for ask in asks}}
        sent = {**params, "_meta": wire.envelope(meta, asks, number)}
        return wire.request(number, method, sent)

    def _headers(self, message: Json, repeated: Json | None) -> dict[str, str]:
        return {**wire.routing(message["method"], message["params"]), **(repeated or {})}


def _spoken(outcome: Json | Failure) -> Json | Failure:
    if isinstance(outcome, Failure) and outcome.code == UNSUPPORTED_VERSION:
        raise NotSpoken(wire.versions_in(outcome))
    return outcome
