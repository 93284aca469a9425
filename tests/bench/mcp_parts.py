"""The servers of the MCP gateway's bench, each a process of its own.

    python -m tests.bench.mcp_parts upstream
    python -m tests.bench.mcp_parts relay --upstream URL
    python -m tests.bench.mcp_parts door --upstream URL --home FOLDER

Each says its port in its first line, the door also its tokens, and serves until it is ended. *relay* is
what the door would be if it did nothing: the same HTTP library and loop. The door is put together as
an installation has it: standing rules in a real PocketBase, the server's credential in a vault,
honeytokens, and a record that is on the disk before a call leaves.
"""

import argparse
import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from time import monotonic

import aiohttp
import orjson
from aiohttp import web

from entrance.app import Outbound, make_app, make_runner
from entrance.git.proxy import Keeping
from entrance.git.upstream import client_session as git_session
from entrance.honeytokens.watch import Watch
from entrance.mcp.judging import Judge
from entrance.mcp.messages import SERVER_INFO, Json
from entrance.mcp.upstream.endpoint import client_session as mcp_session
from entrance.model.prices import shipped_prices
from entrance.ports import McpServer
from entrance.registry import SessionRegistry
from entrance.session import RunId, Session, TaskId, hash_token, new_run_token
from entrance.tool_policy import ConnectionRules, Mode, ToolRule
from entrance.vault.remembered import RememberedSecrets
from entrance.vault.seal import Keyring
from entrance.vault.vault import Vault
from orchestrator.adapters.pocketbase.approvals import PocketBaseApprovals
from orchestrator.adapters.pocketbase.meter import PocketBaseMeter
from orchestrator.adapters.pocketbase.secrets import PocketBaseSecrets
from orchestrator.app.loop import run
from orchestrator.approvals.call_rules import CallRules
from orchestrator.clock import WallClock
from orchestrator.runner.doings import Doings
from tests.bench.mcp_calls import HANDSHAKE, MODERN, RUNS, SAID, TOOL, address
from tests.bench.serving import serve
from tests.fakes.alarm import FakeAlarm
from tests.servers.log import open_log
from tests.servers.pocketbase import pocketbase_server

SECRET = "the-benchs-secret"
BOUNDS = '{"type": "object", "properties": {"x": {"type": "string", "maxLength": 100}}}'
_LISTED = {
    "name": TOOL,
    "description": "Does nothing.",
    "inputSchema": {
        "type": "object",
        "properties": {"x": {"type": "string"}},
        "required": ["x"],
        "additionalProperties": False,
    },
}
_CALLED = {"content": [{"type": "text", "text": SAID}], "isError": False}
_CAPABILITIES: Mapping[str, Json] = {"tools": {}}
_RESULTS: Mapping[str, Json] = {
    "initialize": {
        "protocolVersion": HANDSHAKE,
        "capabilities": _CAPABILITIES,
        "serverInfo": SERVER_INFO,
    },
    "server/discover": {"supportedVersions": [MODERN], "capabilities": _CAPABILITIES},
    "tools/list": {"tools": [_LISTED]},
    "tools/call": _CALLED,
}
_MODERN = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}


async def answer(request: web.Request) -> web.Response:
    """The tool's server, of both eras; it has no sessions."""
    message = orjson.loads(await request.read())
    if "id" not in message:
        return web.Response(status=202)
    result = _RESULTS.get(message["method"])
    reply = {"jsonrpc": "2.0", "id": message["id"]}
    if result is None:
        return _json({**reply, "error": {"code": -32601, "message": "no such method"}})
    modern = request.headers.get("mcp-protocol-version") == MODERN
    return _json({**reply, "result": {**result, **_MODERN} if modern else result})


def _json(message: object) -> web.Response:
    return web.Response(body=orjson.dumps(message), content_type="application/json")


async def upstream() -> None:
    """The tool's server."""
    app = web.Application()
    app.router.add_post("/mcp", answer)
    await serve(web.AppRunner(app, access_log=None))


async def relay(url: str) -> None:
    """Passes requests and answers on as they are."""
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as http:

        async def passed_on(request: web.Request) -> web.Response:
            kept = {k: v for k, v in request.headers.items() if k.lower() not in _OF_ONE_HOP}
            body = await request.read()
            async with http.request(request.method, url, data=body, headers=kept) as came:
                content = came.headers.get("content-type", "application/json")
                return web.Response(
                    status=came.status, body=await came.read(), headers={"content-type": content}
                )

        app = web.Application()
        app.router.add_route("*", "/mcp", passed_on)
        await serve(web.AppRunner(app, access_log=None))


_OF_ONE_HOP = frozenset({"host", "content-length", "connection", "transfer-encoding"})


def session(number: int, token: str) -> Session:
    """A run that may call the tool, within bounds; what is beyond them is held."""
    run_id = RunId(f"bench{number}")
    return Session(
        run=run_id,
        task=TaskId("BENCH/B-1"),
        project="BENCH",
        agent="bot",
        address=address(number),
        token_sha256=hash_token(token),
        tool_rules={TOOL: ConnectionRules({TOOL: ToolRule(Mode.WRITE, BOUNDS, "hold")})},
        honeytokens=(run_id,),
    )


@asynccontextmanager
async def assembled(url: str, home: Path) -> AsyncIterator[tuple[web.Application, list[str]]]:
    """The door's application and the tokens that open it."""
    registry, clock = SessionRegistry(), WallClock()
    tokens = [new_run_token() for _ in range(RUNS)]
    for number, token in enumerate(tokens):
        registry.open(session(number, token))
    audit = open_log(home / "egress", now=clock.now, causes=Doings())
    with pocketbase_server(home) as server:
        async with server.client() as store, git_session() as git, mcp_session() as mcp:
            secrets = RememberedSecrets(PocketBaseSecrets(store), monotonic)
            vault = Vault(secrets, Keyring("k1", {"k1": b"k" * 32}), clock.now)
            await vault.put(TOOL, SECRET, [url.removeprefix("http://").partition("/")[0]], "mcp")
            rules = CallRules(PocketBaseApprovals(store), clock)
            assert await rules.refresh(), "the rules can't be read"
            yield (
                make_app(
                    sessions=registry,
                    audit=audit,
                    watch=Watch(b"h" * 32, audit, FakeAlarm()),
                    vault=vault,
                    meter=PocketBaseMeter(store),
                    providers=[],
                    prices=shipped_prices(),
                    tool_providers=[],
                    servers=[McpServer(TOOL, url, TOOL)],
                    outbound=Outbound(git, git, mcp),
                    pushes=Keeping(home / "git"),
                    judge=Judge(rules),
                ),
                tokens,
            )
            await audit.close()


async def door(url: str, home: Path) -> None:
    """The door."""
    async with assembled(url, home) as (app, tokens):
        await serve(make_runner(app), *tokens)


def main() -> None:
    """One of them."""
    parser = argparse.ArgumentParser()
    parser.add_argument("part", choices=["upstream", "relay", "door"])
    parser.add_argument("--upstream", default="")
    parser.add_argument("--home", type=Path, default=Path())
    given = parser.parse_args()
    if given.part == "upstream":
        asyncio.run(upstream())
        return
    run(relay(given.upstream) if given.part == "relay" else door(given.upstream, given.home))


if __name__ == "__main__":
    main()
