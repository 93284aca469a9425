"""A held call from a client of the SDK to a server of the SDK: held, decided, made once, and told."""

from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from mcp.server.mcpserver import MCPServer

from entrance.mcp.judging import Judge
from entrance.ports import McpServer
from entrance.tool_policy import Mode, ToolRule
from orchestrator.domain.approval import ApprovalState, Verb
from tests.component.entrance.test_mcp import MODES, mcp_client, text_of
from tests.component.entrance.test_mcp import Mode as Era
from tests.fakes.approvals import Inbox
from tests.fakes.calls import CallHouse, engagement
from tests.fakes.world import AGENT, TASK, FakeWorld
from tests.servers.anthropic import ModelServer, model_server
from tests.servers.asgi import served
from tests.servers.door import RUN, Door, open_door


@dataclass
class Wiki:
    """A server made with the SDK, and what it was told to write."""

    url: str = ""
    written: list[str] = field(default_factory=list)


@pytest.fixture
def wiki() -> Iterator[Wiki]:
    wiki, server = Wiki(), MCPServer("wiki")

    @server.tool()
    def write(page: str, text: str = "") -> str:
        """Write a page. It only reads, says the server, and that opens nothing."""
        wiki.written.append(f"{page}: {text}")
        return f"{page} is written"

    @server.tool()
    def fresh() -> str:
        """A tool that nobody has looked at."""
        wiki.written.append("fresh")
        return "fresh"

    with served(server.streamable_http_app(streamable_http_path="/mcp")) as url:
        wiki.url = url
        yield wiki


@pytest.fixture
async def model() -> AsyncIterator[ModelServer]:
    async with model_server() as server:
        yield server


@pytest.fixture
async def house(tmp_path: Path) -> CallHouse:
    return CallHouse(Inbox(FakeWorld(tmp_path)))


@pytest.fixture
async def door(
    tmp_path: Path, model: ModelServer, wiki: Wiki, house: CallHouse
) -> AsyncIterator[Door]:
    await house.running(id=RUN)
    judge = Judge(house.rules, house.calls)
    servers = [McpServer("wiki", wiki.url)]
    async with open_door(
        tmp_path, model, servers=servers, judge=judge, released=house.released, rules=house.rules
    ) as opened:
        house.released.call_timeout_s = 20
        rules = engagement().grants.tool_rules
        opened.reopen(
            task=TASK.id, project="DEMO", agent=AGENT.bot,
            tools={"wiki": frozenset({"write"})}, tool_rules=rules,
        )  # fmt: skip
        yield opened


@pytest.mark.parametrize("era", MODES)
async def test_a_held_call_is_told_at_once_and_made_once_when_it_is_allowed(
    door: Door, house: CallHouse, wiki: Wiki, era: Era
) -> None:
    """CASE-72."""
    arguments = {"page": "Home", "text": "hello"}
    async with mcp_client(door, era) as client:
        names = {tool.name for tool in (await client.list_tools()).tools}
        held = await client.call_tool("write", arguments)
        assert names == {"write", "wiki_fresh"}
        assert not held.is_error
        [item] = house.inbox.store.items
        assert text_of(held).startswith(f"Held for approval, {item}")
        assert not wiki.written
        done = await house.decide(item)
        assert done.item.state is ApprovalState.RELEASED
        assert "Home is written" in str(done.item.came["words"])
        again = await client.call_tool("write", arguments)
        assert "Home is written" in text_of(again), "whoever calls again is told, once"
    assert wiki.written == ["Home: hello"]
    [line] = door.lines("tool_call")[:1]
    assert (line["decision"], line["rule"]) == ("hold", "needs_approval")
    assert line["detail"]["arguments"] == '{"page":"Home","text":"hello"}'
    assert line["detail"]["arguments_sha256"] == house.now(item).wanted["sha256"]


async def test_a_tool_that_nobody_has_named_is_held_whatever_the_server_says_of_it(
    door: Door, house: CallHouse, wiki: Wiki
) -> None:
    async with mcp_client(door) as client:
        assert text_of(await client.call_tool("wiki_fresh", {})).startswith("Held for approval")
        [item] = house.inbox.store.items
        await house.decide(item, Verb.DENY)
        assert "denied" in text_of(await client.call_tool("wiki_fresh", {}))
    assert not wiki.written


async def test_a_standing_rule_lets_the_next_call_through_at_once(
    door: Door, house: CallHouse, wiki: Wiki
) -> None:
    async with mcp_client(door) as client:
        await client.call_tool("write", {"page": "Home"})
        [item] = house.inbox.store.items
        await house.decide(item, Verb.RULE, scope="agent")
        later = await client.call_tool("write", {"page": "Home"})
    assert text_of(later) == "Home is written"
    assert wiki.written == ["Home: ", "Home: "]
    rule = next(one for one in house.inbox.store.items if one != item)
    assert door.lines("tool_call")[-1]["rule"] == f"approval/{rule}"


async def test_what_is_not_granted_any_more_is_not_made(
    door: Door, house: CallHouse, wiki: Wiki
) -> None:
    async with mcp_client(door) as client:
        await client.call_tool("write", {"page": "Home"})
    [item] = house.inbox.store.items
    house.hire(engagement(ToolRule(Mode.FORBIDDEN)))
    done = await house.decide(item)
    assert done.item.state is ApprovalState.FAILED
    assert not wiki.written
