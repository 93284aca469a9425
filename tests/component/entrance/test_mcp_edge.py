"""Whatever is sent to the gateway is answered as JSON-RPC, and never with a 500."""

import itertools
from io import BytesIO
from typing import Any

import orjson
import pytest
from aiohttp import ClientSession

from entrance.mcp.methods import METHODS
from tests.servers.door import Door

ODD: list[Any] = [None, True, -1, 1.5, "", "x" * 100_000, "\x00\x1b[2J", "é😀", [], [[]], {},
                  {"a": None}, {"name": "get_item"}, ["get_item"]]  # fmt: skip
BODIES = {
    "nothing": b"",
    "no UTF-8": b"\xff\xfe\xfd",
    "cut off": b'{"jsonrpc":"2.0","id":1,',
    "half a character": b'{"jsonrpc":"2.0","id":1,"method":"\\ud800"}',
    "no number": b'{"jsonrpc":"2.0","id":NaN,"method":"ping"}',
    "an abyss": b"[" * 1_000_000,
    "an abyss of objects": b'{"a":' * 500_000,
    "a batch": b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]',
    "an empty batch": b"[]",
    "a text": b'"ping"',
    "null": b"null",
    "a key twice": b'{"jsonrpc":"2.0","id":1,"id":2,"method":"ping","method":"tools/list"}',
    "a number of a million digits": b'{"jsonrpc":"2.0","id":' + b"9" * 1_000_000 + b"}",
    "too large": b" " * ((4 << 20) + 1),
}
HEADERS: tuple[dict[str, str], ...] = (
    {},
    {"mcp-protocol-version": "2026-07-28"},
    {"mcp-protocol-version": "9"},
    {"mcp-session-id": "x"},
    {"accept": "text/event-stream"},
)


async def sent(
    door: Door, http: ClientSession, body: bytes, headers: dict[str, str]
) -> tuple[int, dict[str, Any] | None]:
    async with http.post(
        f"{door.url}/mcp", data=BytesIO(body), headers=door.bearer | headers
    ) as answer:
        said = await answer.read()
    if answer.status == 202:
        assert not said
        return 202, None
    message: dict[str, Any] = orjson.loads(said.removeprefix(b"event: message\ndata: "))
    assert message["jsonrpc"] == "2.0"
    assert ("error" in message) != ("result" in message)
    return answer.status, message


@pytest.mark.parametrize("name", BODIES)
async def test_what_is_no_message_is_an_error(door: Door, http: ClientSession, name: str) -> None:
    for headers in HEADERS:
        status, message = await sent(door, http, BODIES[name], headers)
        assert status < 500
        assert message is not None
        if name != "a key twice":
            assert message["error"]["code"] < 0


@pytest.mark.parametrize("method", [*METHODS, "no/such", ""])
async def test_no_type_of_anything_makes_it_stumble(
    door: Door, http: ClientSession, method: str
) -> None:
    names = ("name", "arguments", "uri", "ref", "argument", "level", "notifications")
    for odd, params in itertools.product(ODD, (None, *names, "_meta", "params")):
        given: Any = {"name": "get_item", "arguments": {"key": "T-1"}}
        given = odd if params == "params" else given | ({params: odd} if params else {})
        message = {"jsonrpc": "2.0", "id": odd if params is None else 1, "method": method}
        body = orjson.dumps(message | {"params": given})
        modern = {"mcp-protocol-version": "2026-07-28", "mcp-method": method or "x"}
        for headers in ({}, modern):
            status, _ = await sent(door, http, body, headers)
            assert status < 500
