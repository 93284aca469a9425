"""A session with a server of the handshake era: one for each run, as servers may remember things."""

import asyncio
from collections.abc import Callable
from contextlib import aclosing
from itertools import count
from typing import Any

import structlog

from entrance.errors import Malformed, SandgateError
from entrance.mcp.beyond_policy import asks_of
from entrance.mcp.connection import Caller, Lost, Tell
from entrance.mcp.messages import Failure, Json
from entrance.mcp.upstream import wire
from entrance.mcp.upstream.conversing import asked, told
from entrance.mcp.upstream.endpoint import Endpoint

log = structlog.get_logger()

_GOODBYE_S = 3.0
_SESSION = "Mcp-Session-Id"


class HandshakeSession:
    """One session. `changed` hears each notification's method."""

    def __init__(self, name: str, endpoint: Endpoint, changed: Callable[[str], None]) -> None:
        self._name = name
        self._endpoint = endpoint
        self._changed = changed
        self._numbers = count(1)
        self._headers: dict[str, str] = {}
        self._listeners: list[Tell] = []
        self._pumping = asyncio.Lock()
        self.capabilities: Json = {}
        self.used_at = 0.0

    async def begin(self, caller: Caller) -> Failure | None:
        """Shake hands; a failure when the server refuses to. Raises: SandgateError."""
        params = {
            "protocolVersion": wire.HANDSHAKE,
            "capabilities": {ask: {} for ask in sorted(asks_of(caller.session, self._name))},
            "clientInfo": wire.CLIENT,
        }
        result = await self.request(caller, "initialize", params)
        if isinstance(result, Failure):
            return result
        capabilities = result.get("capabilities")
        self.capabilities = capabilities if isinstance(capabilities, dict) else {}
        version = result.get("protocolVersion")
        self._headers["MCP-Protocol-Version"] = str(version)[:40]
        await self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return None

    async def request(self, caller: Caller, method: str, params: Json) -> Json | Failure:
        """Ask, and hear it out. Raises: NotFound when the session is gone, and as `Endpoint.said`."""
        number = next(self._numbers)
        token = params.get("_meta", {}).get("progressToken")
        sent = {key: value for key, value in params.items() if key != "_meta"}
        if token is not None:
            sent["_meta"] = {"progressToken": number}
        message = wire.request(number, method, sent)
        try:
            return await self._heard_out(caller, message, token)
        except asyncio.CancelledError:
            if method != "initialize":
                await self._withdraw(number)
            raise

    async def _heard_out(
        self, caller: Caller, message: dict[str, Any], token: Any
    ) -> Json | Failure:
        number = message["id"]
        saying = self._endpoint.said(message, self._headers, resumes=True)
        async with aclosing(saying):
            async for said, answer in saying:
                if session := answer.headers.get(_SESSION):
                    self._headers.setdefault(_SESSION, session)
                if "method" not in said:
                    if said.get("id") == number or answer.status >= 400:  # noqa: PLR2004 - HTTP's
                        return _outcome(said, answer.status)
                elif "id" in said:
                    await self._answer(caller, said)
                else:
                    await self._hear(said)
                    await told(caller, said, token, number)
        raise Lost(f"{self._name} ended its answer without a result")

    async def listen(self, caller: Caller, tell: Tell) -> None:
        """Pass on what comes by itself, until cancelled or the server has no such stream."""
        self._listeners.append(tell)
        try:
            async with self._pumping:  # one stream a session: who holds it tells all who listen
                await self._pump(caller)
        finally:
            self._listeners.remove(tell)

    async def _pump(self, caller: Caller) -> None:
        async with self._endpoint.open("GET", self._headers) as answer:
            if answer.status != 200:  # noqa: PLR2004 - HTTP's
                return
            async with aclosing(answer.messages()) as saying:
                async for said in saying:
                    if "method" in said and "id" in said:
                        await self._answer(caller, said)
                    elif "method" in said:
                        await self._hear(said)

    async def _hear(self, said: Json) -> None:
        method, params = str(said["method"]), said.get("params")
        self._changed(method)
        for tell in tuple(self._listeners):
            await tell(method, params if isinstance(params, dict) else {})

    async def _answer(self, caller: Caller, said: Json) -> None:
        result = await asked(caller, self._name, said)
        await self._send(wire.answer(said["id"], result))

    async def _send(self, message: Json) -> None:
        async with self._endpoint.open("POST", self._headers, message) as answer:
            if answer.status >= 400:  # noqa: PLR2004 - HTTP's
                raise Malformed(f"{self._name} doesn't take {message.get('method', 'an answer')}")

    async def _withdraw(self, number: int) -> None:
        params = {"requestId": number, "reason": "no longer wanted"}
        cancelled = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}
        try:
            async with asyncio.timeout(_GOODBYE_S):
                await self._send(cancelled)
        except (SandgateError, TimeoutError) as error:
            log.info("not_withdrawn", connection=self._name, error=str(error))

    async def end(self) -> None:
        """Tell the server that the session is over, if it can be told."""
        if _SESSION not in self._headers:
            return
        try:
            async with (
                asyncio.timeout(_GOODBYE_S),
                self._endpoint.open("DELETE", self._headers) as answer,
            ):
                log.info("session_ended", connection=self._name, status=answer.status)
        except (SandgateError, TimeoutError) as error:
            log.info("session_not_ended", connection=self._name, error=str(error))


def _outcome(said: Json, status: int) -> Json | Failure:
    try:
        return wire.outcome(said, status)
    except ValueError as error:
        raise Malformed(f"its answer can't be read: {error}") from error
