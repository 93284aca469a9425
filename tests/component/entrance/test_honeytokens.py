"""A honeytoken is found in whatever a sandbox sends to the door, and nothing of it goes on."""

import base64
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

import aiohttp
import orjson
import pytest

from entrance.honeytokens.watch import RULE, InPrompts
from tests.component.entrance.test_model import HELLO
from tests.fakes.alarm import canary
from tests.servers.anthropic import ModelServer
from tests.servers.door import RUN, Door, open_door

SECRET = canary(RUN)
PACKED = base64.b64encode(f"x{SECRET}".encode()).decode()
MESSAGES = "/model/anthropic/v1/messages"


def call(argument: str) -> bytes:
    params = {"name": "get_item", "arguments": {"key": argument}}
    return orjson.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})


def prompt(said: str) -> bytes:
    return orjson.dumps({**HELLO, "messages": [{"role": "user", "content": said}]})


async def post(
    door: Door,
    http: aiohttp.ClientSession,
    path: str,
    body: bytes,
    headers: Mapping[str, str] | None = None,
) -> int:
    sent = {"content-type": "application/json", **door.bearer, **(headers or {})}
    async with http.post(f"{door.url}{path}", data=body, headers=sent) as answer:
        assert SECRET not in await answer.text()
        return answer.status


def found(door: Door) -> Mapping[str, Any]:
    """The one find, on record and alarmed of; its value is nowhere."""
    [line] = [line for line in door.lines() if line.get("rule") == RULE]
    [touched] = door.alarm.touched
    assert (line["decision"], line["run"]) == ("deny", RUN)
    assert line["detail"]["honeytoken"] == touched.canary == "aws-secret"
    assert line["detail"]["where"] == touched.where
    assert not [line for line in door.lines() if SECRET in str(line) or PACKED in str(line)]
    return line


@pytest.mark.parametrize(
    ("path", "headers", "where"),
    [
        (f"/mcp?leak={SECRET}", {}, "the address of a request"),
        (f"/nowhere/{quote(PACKED)}", {}, "the address of a request"),
        ("/mcp", {"x-trace": PACKED}, "the headers of a request"),
        (MESSAGES, {"user-agent": f"curl {SECRET}"}, "the headers of a request"),
        ("/mcp", {"authorization": f"Bearer {SECRET}"}, "the headers of a request"),
    ],
)
async def test_addresses_and_headers_are_looked_at_before_all_else(
    door: Door, http: aiohttp.ClientSession, path: str, headers: Mapping[str, str], where: str
) -> None:
    """Also without the token: whose sandbox it is, is known by its address."""
    assert await post(door, http, path, b"{}", headers) == 403
    assert found(door)["detail"]["where"] == where


@pytest.mark.parametrize("argument", [SECRET, PACKED, f"line\n{SECRET}\n", "é" + SECRET])
async def test_a_tool_is_not_called_with_one(
    door: Door, http: aiohttp.ClientSession, argument: str
) -> None:
    assert await post(door, http, "/mcp", call(argument)) == 403
    assert found(door)["subject"] == "get_item"
    assert door.tools.calls == []


async def test_one_that_is_spelled_with_escapes_is_found(
    door: Door, http: aiohttp.ClientSession
) -> None:
    spelled = "".join(f"\\u{ord(letter):04x}" for letter in SECRET).encode()
    assert await post(door, http, "/mcp", call("KEY").replace(b"KEY", spelled)) == 403
    assert found(door)["kind"] == "tool_call"


async def test_other_calls_go_through(door: Door, http: aiohttp.ClientSession) -> None:
    assert await post(door, http, "/mcp", call("T-1")) == 200
    assert door.tools.calls == [("get_item", {"key": "T-1"})]
    assert not door.alarm.touched


@pytest.mark.parametrize("in_prompts", ["note", "off", "freeze"])
async def test_in_a_prompt_it_is_what_the_operator_says(
    tmp_path: Path, model: ModelServer, http: aiohttp.ClientSession, in_prompts: InPrompts
) -> None:
    """An agent tells its model what it has read: by default that is noted, and the call goes on."""
    async with open_door(tmp_path, model, in_prompts=in_prompts) as door:
        status = await post(door, http, MESSAGES, prompt(f"I found {SECRET}"))
        if in_prompts == "freeze":
            assert (status, model.got) == (403, [])
            assert found(door)["kind"] == "model_call"
            return
        assert status == 200
        assert not door.alarm.touched
        [decided] = door.lines("model_call")
        noted = decided["detail"].get("honeytoken")
        assert noted == ("aws-secret" if in_prompts == "note" else None)


async def test_a_prompt_without_one_notes_nothing(door: Door, http: aiohttp.ClientSession) -> None:
    assert await post(door, http, MESSAGES, prompt("Hi")) == 200
    assert "honeytoken" not in door.lines("model_call")[0]["detail"]
