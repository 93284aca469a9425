"""All connections by name: ours, and the servers that are offered now."""

from typing import Any

import pytest

from entrance.mcp.connections import Connections
from entrance.ports import McpServer
from tests.fakes.tools import FakeTools

WIKI, CODE = McpServer("wiki", "http://127.0.0.1:9/mcp"), McpServer("code", "http://127.0.0.1:9/c")
NOTHING: Any = None


def connections(*own: FakeTools, servers: tuple[McpServer, ...] = ()) -> Connections:
    return Connections(own, NOTHING, NOTHING, lambda: 0.0, servers)


def test_two_providers_of_one_connection_are_a_mistake() -> None:
    with pytest.raises(ValueError, match="same connection"):
        connections(FakeTools(), FakeTools())


def test_no_server_takes_the_place_of_our_own() -> None:
    own = FakeTools()
    found = connections(own, servers=(McpServer("tracker", "http://127.0.0.1:9/mcp"), WIKI))
    assert sorted(found) == ["tracker", "wiki"]
    assert found["tracker"].provider is own
    assert len(found) == 2


async def test_a_server_that_stays_as_it_was_stays_the_same_connection() -> None:
    found = connections(servers=(WIKI, CODE))
    wiki, code = found["wiki"], found["code"]
    moved = McpServer("code", "http://127.0.0.1:9/other")
    await found.offer([WIKI, moved])
    assert found["wiki"] is wiki
    assert found["code"] is not code
    await found.offer([])
    assert not found
    with pytest.raises(KeyError):
        found["wiki"]


def test_calls_outside_of_any_request_are_made_at_the_same_ones() -> None:
    own = FakeTools()
    providers = connections(own, servers=(WIKI,)).providers
    assert providers["tracker"] is own
    assert providers["wiki"].connection == "wiki"
    assert sorted(providers) == ["tracker", "wiki"]
    assert providers.get("nothing") is None
