"""Servers over stdio behind the gateway: the real bridge, and in place of sandboxes who says where it is."""

import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from entrance.ports import McpServer, Stdio
from tests.component.entrance.test_mcp import mcp_client, text_of
from tests.component.stdio.test_bridge import ODD
from tests.servers.anthropic import ModelServer, model_server
from tests.servers.bridge import Bridges
from tests.servers.door import Door, open_door


@pytest.fixture
async def model() -> AsyncIterator[ModelServer]:
    async with model_server() as server:
        yield server


@pytest.fixture
async def bridges(tmp_path: Path) -> AsyncIterator[Bridges]:
    async with AsyncExitStack() as stack:
        yield Bridges(tmp_path, stack)


@pytest.fixture
async def house(tmp_path: Path, model: ModelServer, bridges: Bridges) -> AsyncIterator[Door]:
    server = McpServer("odd", stdio=Stdio((sys.executable, ODD)))
    async with open_door(tmp_path, model, servers=[server], sandboxes=bridges) as opened:
        opened.reopen(tools={"odd": frozenset({"heard", "die", "leave", "hang"})})
        yield opened


async def call(house: Door, name: str) -> tuple[str, bool]:
    async with mcp_client(house, "auto") as client:
        result = await client.call_tool(name, {})
    return text_of(result), result.is_error


async def test_its_tools_are_listed_and_called(house: Door) -> None:
    async with mcp_client(house, "auto") as client:
        listed = await client.list_tools()
    assert {"heard", "die", "hang", "leave"} == {tool.name for tool in listed.tools}
    text, failed = await call(house, "heard")
    assert not failed
    assert '"heard"' in text


async def test_a_server_that_dies_in_mid_call_is_not_asked_again(house: Door) -> None:
    text, failed = await call(house, "die")
    assert failed
    assert "whether it was done is not known" in text
    assert house.lines("outcome")[-1]["result"] == "unknown"
    assert not (await call(house, "heard"))[1]


async def test_one_that_can_not_be_started_says_why_and_is_tried_again_later(
    house: Door, bridges: Bridges
) -> None:
    bridges.trouble = "there is no sandbox for it"
    text, failed = await call(house, "heard")
    assert failed
    assert "odd can't be started: there is no sandbox for it" in text
    bridges.trouble = ""
    text, _ = await call(house, "heard")
    assert "there is no sandbox for it" in text, "nobody tries again at once"


async def test_what_answers_in_the_servers_place_is_not_taken_for_it(
    house: Door, bridges: Bridges, model: ModelServer
) -> None:
    await call(house, "heard")
    bridges.urls = dict.fromkeys(bridges.urls, f"{model.url}/mcp")
    text, failed = await call(house, "heard")
    assert failed
    assert "odd" in text
    assert bridges.doubted >= 1


async def test_with_its_connection_the_server_goes(house: Door, bridges: Bridges) -> None:
    await call(house, "heard")
    await house.connections.offer([])
    assert bridges.ended == 1


async def test_without_sandboxes_nothing_is_run(tmp_path: Path, model: ModelServer) -> None:
    server = McpServer("odd", stdio=Stdio((sys.executable, ODD)))
    async with open_door(tmp_path, model, servers=[server]) as house:
        assert "odd" not in house.connections
