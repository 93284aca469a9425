"""Our client of servers, doing what a scenario of the public suite asks of it."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from time import monotonic
from typing import Any

import httpx2
from aiohttp import ClientSession

from entrance.decision import Allow, Decision
from entrance.mcp.connection import Caller
from entrance.mcp.messages import Era, Failure, Json
from entrance.mcp.upstream.answer import Answer
from entrance.mcp.upstream.endpoint import Endpoint, Outgoing, Secrets, client_session
from entrance.mcp.upstream.server import ServerConnection
from entrance.mcp.upstream.transports import reached
from entrance.mcp.upstream.wire import CAPABILITIES_KEY, MODERN
from entrance.ports import McpServer
from entrance.session import RunId, Session, TaskId
from entrance.tool_policy import Ask
from tests.conformance.sdk_oauth import SdkOAuth
from tests.conformance.vault_oauth import vault_oauth

ROUNDS = "sep-2322-client-request-state"
"""Asks in its results, which a modern client of the gateway answers itself; any other has it done."""
OURS = frozenset({"auth/client-credentials-basic", "auth/client-credentials-jwt"})
"""OAuth that needs nobody, and is the door's own."""
ARGUMENTS: Mapping[str, Json] = {
    "add_numbers": {"a": 5, "b": 3},
    "valid_tool": {"region": "here"},
}
ECHOED, ECHO = "json_schema_2020_12_tool", "json_schema_echo"
"""A tool whose schema is to be seen whole, and the one that takes what was seen of it."""
META: Json = {CAPABILITIES_KEY: {"elicitation": {}}}
"""What a client of the modern era says of itself."""
SESSION = Session(RunId("run-1"), TaskId("PROJ/T-1"), "PROJ", "bot", "127.0.0.1", "")


@dataclass(frozen=True)
class Scenario:
    """What the suite says of one. `context`: clients that are registered, calls to make."""

    name: str
    url: str
    era: Era
    context: Mapping[str, Any]


@dataclass(frozen=True)
class Willing:
    """Implements `connection.Back`: somebody who fills in each form with what it proposes."""

    era: Era

    async def tell(self, method: str, params: Json) -> None:
        """It listens to nothing."""

    async def ask(self, method: str, params: Json) -> Json | Failure:
        fields: Mapping[str, Json] = params["requestedSchema"]["properties"]
        content = {name: one["default"] for name, one in fields.items() if "default" in one}
        return {"action": "accept", "content": content}


def scenario_in(told: bytes) -> Scenario:
    """What the relay hands over."""
    given: dict[str, str] = json.loads(told)
    name = given["SCENARIO"]
    modern = given["PROTOCOL_VERSION"] == MODERN and name != ROUNDS
    context = json.loads(given.get("CONTEXT", "{}"))
    return Scenario(name, given["URL"], "modern" if modern else "handshake", context)


class Watched(Endpoint):
    """Knows when the server has been asked for what it says by itself."""

    def __init__(self, http: ClientSession, server: McpServer, secrets: Secrets) -> None:
        super().__init__(http, server, secrets)
        self.heard = asyncio.Event()

    @asynccontextmanager
    async def open(self, request: Outgoing) -> AsyncIterator[Answer]:
        async with super().open(request) as answer:
            if request.method == "GET":
                self.heard.set()
            yield answer


async def play(scenario: Scenario) -> None:
    """Use all that the server has, or make the calls that the scenario names. Raises: SandgateError."""
    caller = Caller(SESSION, Willing(scenario.era), _may_ask, _asks)
    server = McpServer("suite", scenario.url, "suite")
    async with client_session() as http, httpx2.AsyncClient(timeout=20) as browser:
        if scenario.name in OURS:
            secrets: Secrets = await vault_oauth(http, browser, scenario.url, scenario.context)
        else:
            secrets = SdkOAuth(browser, scenario.url, scenario.context)
        endpoint = Watched(http, server, secrets)
        connection = ServerConnection(reached(server, lambda _: endpoint), monotonic)
        try:
            tools = await connection.listed(caller, "tools")
            async with _listening(connection, caller, endpoint):
                for call in scenario.context.get("toolCalls") or _calls(tools):
                    await connection.do(caller, "tools/call", {**call, "_meta": META})
                await _use_the_rest(connection, caller)
        finally:
            await connection.close()


@asynccontextmanager
async def _listening(
    connection: ServerConnection, caller: Caller, endpoint: Watched
) -> AsyncIterator[None]:
    """Meanwhile hear what the server says by itself, as clients of the handshake era do."""
    if caller.back.era == "modern":
        yield
        return
    listening = asyncio.ensure_future(connection.listen(caller, {}, caller.back.tell))
    opened = asyncio.ensure_future(endpoint.heard.wait())
    try:
        await asyncio.wait({listening, opened}, return_when=asyncio.FIRST_COMPLETED)
        yield
    finally:
        listening.cancel()
        opened.cancel()
        await asyncio.wait({listening, opened})


async def _use_the_rest(connection: ServerConnection, caller: Caller) -> None:
    for prompt in await connection.listed(caller, "prompts"):
        await connection.do(caller, "prompts/get", {"name": prompt["name"]})
    for resource in await connection.listed(caller, "resources"):
        await connection.do(caller, "resources/read", {"uri": resource["uri"]})


def _calls(tools: Sequence[Json]) -> list[dict[str, Any]]:
    seen = {one["name"]: one["inputSchema"] for one in tools}
    arguments = {**ARGUMENTS, ECHO: {"schema": seen.get(ECHOED)}}
    return [{"name": name, "arguments": arguments.get(name, {})} for name in seen]


async def _may_ask(_connection: str, _ask: Ask | None, _params: Json) -> Decision:
    return Allow()


def _asks(_connection: str) -> frozenset[Ask]:
    return frozenset({"elicitation"})
