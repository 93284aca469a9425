"""Our MCP client against the servers of others: the SDK's own, in both eras and both ways to answer."""

import io
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx2
import mcp_types
import pytest
from mcp.server.lowlevel import Server
from native.events import emitter
from native.mcp import Gateway
from native.output import Spill

from tests.servers.asgi import served


async def list_tools(_: object, __: object) -> mcp_types.ListToolsResult:
    schema = {"type": "object", "properties": {"text": {"type": "string"}}}
    return mcp_types.ListToolsResult(tools=[mcp_types.Tool(name="echo", input_schema=schema)])


async def call_tool(_: object, params: mcp_types.CallToolRequestParams) -> mcp_types.CallToolResult:
    text = (params.arguments or {}).get("text", "")
    content = [mcp_types.TextContent(type="text", text=f"echo {text}")]
    return mcp_types.CallToolResult(content=content, is_error=text == "bad")


class OlderOnly:
    """An ASGI application that knows the handshake era alone: it refuses the newer version's header."""

    def __init__(self, app: object) -> None:
        self._app = app

    async def __call__(self, scope: dict, receive: object, send: object) -> None:  # type: ignore[type-arg]
        if (b"mcp-protocol-version", b"2026-07-28") in scope.get("headers", ()):
            await send({"type": "http.response.start", "status": 400, "headers": []})  # type: ignore[operator]
            await send({"type": "http.response.body", "body": b"Bad Request"})  # type: ignore[operator]
            return
        await self._app(scope, receive, send)  # type: ignore[operator]


@dataclass(frozen=True)
class Kind:
    """How the SDK's server is run."""

    modern: bool
    json_response: bool
    stateless: bool


@contextmanager
def echoing(kind: Kind) -> Iterator[str]:
    server = Server(
        "echo",
        version="1",
        instructions="Be brief.",
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )
    app = server.streamable_http_app(
        streamable_http_path="/mcp", stateless_http=kind.stateless, json_response=kind.json_response
    )
    with served(app if kind.modern else OlderOnly(app)) as url:
        yield url


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param(Kind(modern=True, json_response=True, stateless=True), id="modern, JSON"),
        pytest.param(Kind(modern=True, json_response=False, stateless=True), id="modern, events"),
        pytest.param(
            Kind(modern=False, json_response=False, stateless=False), id="handshake, session"
        ),
        pytest.param(Kind(modern=False, json_response=True, stateless=True), id="handshake, JSON"),
    ],
)
def test_the_sdk_s_server_understands_us(tmp_path: Path, kind: Kind) -> None:
    """CASE-70."""
    out = io.BytesIO()
    with echoing(kind) as url, httpx2.Client(trust_env=False, timeout=20) as client:
        gateway = Gateway(url, client, emitter(out), Spill(tmp_path))
        tools = gateway.connect()
        assert [tool["name"] for tool in tools] == ["echo"]
        assert gateway.peer.modern is kind.modern
        assert (gateway.peer.session is None) is kind.stateless
        assert gateway.peer.instructions == "Be brief."
        good, bad = gateway.call("echo", {"text": "é"}), gateway.call("echo", {"text": "bad"})
        assert (good.text, good.is_error) == ("echo é", False)
        assert bad.is_error
    assert [json.loads(line) for line in out.getvalue().splitlines()] == []
