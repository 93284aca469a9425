"""A server of the modern era, 2026-07-28: each request stands alone."""

from collections.abc import Callable
from contextlib import aclosing
from itertools import count
from typing import Any

from entrance.errors import Malformed
from entrance.mcp.beyond_policy import asks_of
from entrance.mcp.connection import Caller, Lost, Tell
from entrance.mcp.messages import Failure, Json
from entrance.mcp.upstream import wire
from entrance.mcp.upstream.conversing import told
from entrance.mcp.upstream.endpoint import Endpoint

_ACKNOWLEDGED = "notifications/subscriptions/acknowledged"


class ModernServer:
    """`changed` hears each notification's method."""

    def __init__(self, name: str, endpoint: Endpoint, changed: Callable[[str], None]) -> None:
        self._name = name
        self._endpoint = endpoint
        self._changed = changed
        self._numbers = count(1)
        self.capabilities: Json = {}

    async def discover(self, caller: Caller) -> bool:
        """Whether the server speaks this version. Raises: Unavailable, Lost."""
        try:
            result = await self.request(caller, "server/discover", {})
        except Malformed:
            return False
        if isinstance(result, Failure) or wire.MODERN not in result.get("supportedVersions", ()):
            return False
        capabilities = result.get("capabilities")
        self.capabilities = capabilities if isinstance(capabilities, dict) else {}
        return True

    async def request(
        self, caller: Caller, method: str, params: Json, repeated: Json | None = None
    ) -> Json | Failure:
        """Ask, and hear it out. `repeated`: headers that repeat arguments. Raises: as `Endpoint.said`."""
        token = params.get("_meta", {}).get("progressToken")
        message = self._message(caller, method, params)
        saying = self._endpoint.said(message, self._headers(message, repeated), resumes=False)
        async with aclosing(saying):
            async for said, answer in saying:
                if "method" not in said:
                    return _outcome(said, answer.status)
                self._changed(str(said["method"]))
                await told(caller, said, token, message["id"])
        raise Lost(f"{self._name} ended its answer without a result")

    async def listen(self, caller: Caller, wanted: Json, tell: Tell) -> None:
        """Pass on what comes by itself, until cancelled or the server ends it."""
        message = self._message(caller, "subscriptions/listen", {"notifications": wanted})
        saying = self._endpoint.said(message, self._headers(message, None), resumes=False)
        async with aclosing(saying):
            async for said, _ in saying:
                method, params = said.get("method"), said.get("params")
                if isinstance(method, str) and method != _ACKNOWLEDGED:
                    self._changed(method)
                    await tell(method, params if isinstance(params, dict) else {})

    def _message(self, caller: Caller, method: str, params: Json) -> dict[str, Any]:
        number = next(self._numbers)
        asks = asks_of(caller.session, self._name)
        meta = wire.envelope(params.get("_meta", {}), asks, number)
        return wire.request(number, method, {**params, "_meta": meta})

    def _headers(self, message: Json, repeated: Json | None) -> dict[str, str]:
        return {**wire.routing(message["method"], message["params"]), **(repeated or {})}


def _outcome(said: Json, status: int) -> Json | Failure:
    try:
        return wire.outcome(said, status)
    except ValueError as error:
        raise Malformed(f"its answer can't be read: {error}") from error
