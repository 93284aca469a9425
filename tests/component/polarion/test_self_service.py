"""What agents do for themselves, by the MCP SDK's client through the door: see, ask, search, remember."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import orjson
import pytest

from entrance.mcp.judging import Judge
from entrance.mcp.released import Released
from entrance.session import hash_token, new_run_token
from entrance.tool_policy import ConnectionRules, Mode, ToolRule
from orchestrator.approvals.call_rules import CallRules
from orchestrator.approvals.calls import HeldCalls
from orchestrator.approvals.deciding import Deciding
from orchestrator.approvals.handling import Decision
from orchestrator.approvals.items import Items
from orchestrator.approvals.tools import ToolAsking, ToolHandling
from orchestrator.approvals.waking import Waking
from orchestrator.domain.approval import Verb
from orchestrator.domain.kinds import TOOL
from tests.component.entrance.test_mcp import MODES, mcp_client, text_of
from tests.component.entrance.test_mcp import Mode as Era
from tests.component.polarion.office import Office, an_office
from tests.fakes.approvals import FakeRecord
from tests.servers.anthropic import model_server
from tests.servers.door import Door, open_door
from tests.servers.polarion import PolarionServer

NAMED = (
    "list_my_tools",
    "request_access",
    "search_work_items",
    "create_work_item",
    "list_memories",
)


@dataclass
class Desk:
    """An agent's door, and the people behind it."""

    office: Office
    door: Door
    deciding: Deciding

    async def decide(self, verb: Verb) -> None:
        """About the one item of the inbox."""
        [item] = self.office.inbox.items
        await self.deciding.decide(item, Decision(verb))


@pytest.fixture
async def desk(server: PolarionServer, tmp_path: Path) -> AsyncIterator[Desk]:
    async with an_office(server, tmp_path) as office, model_server() as model:
        store, world, released = office.inbox, office.world, Released()
        items = Items(store, world.runs, office.tracker, world.clock)
        rules = CallRules(store, world.clock)
        tools = replace(office.tools, open_items=items, tool_access=ToolAsking(items, released))
        judge = Judge(rules, HeldCalls(items))
        async with open_door(
            tmp_path, model, more=[tools], judge=judge, released=released, rules=rules
        ) as door:
            door.token = new_run_token()
            mine = ConnectionRules({name: ToolRule() for name in NAMED}, Mode.FORBIDDEN)
            door.session = replace(office.session, address="127.0.0.1")
            door.reopen(
                token_sha256=hash_token(door.token), tools={}, tool_rules={"polarion": mine}
            )
            handlings = {TOOL: ToolHandling(rules, released)}
            waking = Waking(store, world.runs, _wake)
            deciding = Deciding(
                store, world.runs, office.tracker, world.clock, FakeRecord(), handlings, waking
            )
            yield Desk(office, door, deciding)


async def _wake(_task: str, _words: str, _user: str) -> None:
    """The task's run goes on."""


@pytest.mark.parametrize("era", MODES)
async def test_a_tool_that_is_missing_is_seen_asked_for_granted_and_called(
    desk: Desk, era: Era
) -> None:
    async with mcp_client(desk.door, era) as client:
        told: list[Any] = orjson.loads(text_of(await client.call_tool("list_my_tools", {})))
        mine, other = told
        assert (mine["connection"], other["connection"]) == ("polarion", "tracker")
        assert "add_comment" in mine["not_granted"]
        assert other["tools"] == []
        assert "request_access" in mine["why_not"]
        assert "request_access" in other["why_not"]
        refused = await client.call_tool("add_comment", {"text": "Hello."})
        assert refused.is_error
        wish = {"connection": "polarion", "tool": "add_comment", "why": "to tell my reviewer"}
        asked = await client.call_tool("request_access", wish)
        assert text_of(asked).startswith("A person has been asked")
        await desk.decide(Verb.RUN)
        assert "It is granted" in text_of(await client.call_tool("request_access", wish))
        assert "add_comment" in {tool.name for tool in (await client.list_tools()).tools}
        done = await client.call_tool("add_comment", {"text": "Hello."})
    assert not done.is_error
    assert (desk.office.rex, "", "Hello.") in await desk.office.said()
    [item] = desk.office.inbox.items
    calls = [line for line in desk.door.lines("tool_call") if "add_comment" in line["subject"]]
    assert [(line["decision"], line["rule"]) for line in calls] == [
        ("deny", "not_granted"),
        ("allow", f"approval/{item}"),
    ]


async def test_what_is_denied_stays_refused_and_is_not_asked_again(desk: Desk) -> None:
    wish = {"connection": "tracker", "tool": "get_item", "why": "x"}
    async with mcp_client(desk.door) as client:
        await client.call_tool("request_access", wish)
        await desk.decide(Verb.DENY)
        assert "It was denied" in text_of(await client.call_tool("request_access", wish))
        assert (await client.call_tool("get_item", {"key": "T-1"})).is_error
    assert not desk.door.tools.calls


@pytest.mark.parametrize(
    ("wish", "says"),
    [
        pytest.param({"tool": "add_comment"}, "connection is missing", id="without a connection"),
        pytest.param({"connection": "polarion"}, "say one of", id="without a tool"),
        pytest.param(
            {"tool": "x", "connection": "polarion", "host": "a.example"},
            "say one of",
            id="two wishes",
        ),
        pytest.param({"tool": "x", "connection": "git"}, "no connection git", id="no connection"),
        pytest.param({"tool": "x", "connection": "polarion"}, "has no tool x", id="no such tool"),
        pytest.param(
            {"tool": "list_memories", "connection": "polarion"}, "granted to you", id="it has it"
        ),
    ],
)
async def test_a_wish_that_is_none_is_told_so(desk: Desk, wish: dict[str, str], says: str) -> None:
    async with mcp_client(desk.door) as client:
        told = await client.call_tool("request_access", {**wish, "why": "x"})
    assert told.is_error
    assert says in text_of(told)
    assert not desk.office.inbox.items


async def test_an_agent_searches_and_proposes_a_memory_that_a_person_makes_count(
    desk: Desk,
) -> None:
    async with mcp_client(desk.door) as client:
        found = await client.call_tool("search_work_items", {"query": "type:task"})
        assert desk.office.task in {row["id"] for row in orjson.loads(text_of(found))}
        memory = {"type": "memory", "title": "The docs lie", "description": "Read the code."}
        assert not (await client.call_tool("create_work_item", memory)).is_error
        [row] = orjson.loads(text_of(await client.call_tool("list_memories", {})))
        assert (row["status"], row["title"], row["text"]) == (
            "proposed",
            "The docs lie",
            "Read the code.",
        )
        assert await desk.office.tracker.memories(desk.office.project, desk.office.rex) == []
        await desk.office.admin.items.update(row["id"], workflow_action="accept")
        [row] = orjson.loads(text_of(await client.call_tool("list_memories", {})))
        assert row["status"] == "active"
