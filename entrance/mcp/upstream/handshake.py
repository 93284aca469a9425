"""A session with a server of the handshake era: one for each run, as servers may remember things."""

import asyncio
from collections.abc import Callable
from itertools import count
from typing import Any

import structlog

from entrance.errors import SandgateError
from entrance.gated import Gate
from entrance.mcp.connection import Caller, Lost, Tell
from entrance.mcp.messages import METHOD_NOT_FOUND, Failure, Json
from entrance.mcp.upstream import wire
from entrance.mcp.upstream.carrier import Carrier
from entrance.mcp.upstream.conversing import answered, told

log = structlog.get_logger()

_GOODBYE_S = 3.0


class HandshakeSession:
    """One session. `changed` hears each notification's method."""

    def __init__(self, name: str, carrier: Carrier, changed: Callable[[str], None]) -> None:
        self._name = name
        self._carrier = carrier
        self._changed = changed
        self._numbers = count(1)
        self._listeners: list[tuple[Caller, Tell]] = []
        self._pumping = asyncio.Lock()
        self.capabilities: Json = {}

    @property
    def over(self) -> bool:
        """Whether nothing can be sent in it any more."""
        return self._carrier.over

    async def begin(self, caller: Caller) -> Failure | None:
        """Shake hands; a failure when the server refuses to. Raises: SandgateError."""
        begun = False
        try:
            await self._carrier.open(caller.session, self._stray)
            refused = await self._shake_hands(caller)
            begun = refused is None
        finally:
            if not begun:
                await self.end()
        return refused

    async def _shake_hands(self, caller: Caller) -> Failure | None:
        params = {
            "protocolVersion": wire.HANDSHAKE,
            "capabilities": {ask: {} for ask in sorted(caller.asks(self._name))},
            "clientInfo": wire.CLIENT,
        }
        result = await self.request(caller, "initialize", params)
        if isinstance(result, Failure):
            return result
        capabilities = result.get("capabilities")
        self.capabilities = capabilities if isinstance(capabilities, dict) else {}
        self._carrier.agreed(wire.agreed_version(result))
        await self._carrier.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return None

    async def request(self, caller: Caller, method: str, params: Json) -> Json | Failure:
        """Ask, and hear it out. Raises: NotFound when the session is gone, and as `Carrier.say`."""
        number = next(self._numbers)
        token = params.get("_meta", {}).get("progressToken")
        sent = {key: value for key, value in params.items() if key != "_meta"}
        if token is not None:
            sent["_meta"] = {"progressToken": number}
        message, left = wire.request(number, method, sent), False

        async def gate() -> None:
            nonlocal left
            await caller.may_leave()
            left = True

        try:
            return await self._heard_out(caller, message, token, gate)
        except asyncio.CancelledError:
            if left and method != "initialize":
                await self._withdraw(number)
            raise

    async def _heard_out(
        self, caller: Caller, message: dict[str, Any], token: Any, gate: Gate
    ) -> Json | Failure:
        number = message["id"]

        async def hear(said: Json, status: int) -> Json | Failure | None:
            if "method" not in said:
                mine = wire.is_answer(said, number, status)
                return wire.outcome(said, status) if mine else None
            if "id" in said:
                await self._answer(caller, said)
            else:
                await self._hear(said)
                await told(caller, said, token, number)
            return None

        outcome = await self._carrier.say(message, hear, gate)
        if outcome is None:
            raise Lost(f"{self._name} ended its answer without a result")
        return outcome

    async def listen(self, caller: Caller, tell: Tell) -> None:
        """Pass on what comes by itself, until cancelled or the server has no such stream."""
        listener = (caller, tell)
        self._listeners.append(listener)
        try:
            async with self._pumping:  # one stream a session: who holds it tells all who listen
                await self._carrier.listen()
        finally:
            self._listeners.remove(listener)

    async def _stray(self, said: Json) -> None:
        if "method" not in said:
            return
        if "id" not in said:
            await self._hear(said)
        elif self._listeners:
            caller, _ = self._listeners[0]
            await self._answer(caller, said)

    async def _hear(self, said: Json) -> None:
        method, params = str(said["method"]), said.get("params")
        self._changed(method)
        for _, tell in tuple(self._listeners):
            await tell(method, params if isinstance(params, dict) else {})

    async def _answer(self, caller: Caller, said: Json) -> None:
        result = await answered(caller, self._name, said)
        if said["method"] == "elicitation/create" and _is_unasked(result):
            result = wire.refused("elicitation/create", "")  # with that, a server can go on
        await self._carrier.send(wire.answer(said["id"], result))

    async def _withdraw(self, number: int) -> None:
        params = {"requestId": number, "reason": "no longer wanted"}
        cancelled = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}
        try:
            async with asyncio.timeout(_GOODBYE_S):
                await self._carrier.send(cancelled)
        except (SandgateError, TimeoutError) as error:
            log.info("not_withdrawn", connection=self._name, error=str(error))

    async def end(self) -> None:
        """Tell the server that the session is over, if it can be told."""
        await self._carrier.close()


def _is_unasked(result: Json | Failure) -> bool:
    """Whether nobody was there to be asked."""
    return isinstance(result, Failure) and result.code == METHOD_NOT_FOUND
