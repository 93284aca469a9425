"""What people decide about a run's tools is told its clients, which then list them again."""

from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest

from entrance.tool_policy import ConnectionRules, Mode, ToolRule
from orchestrator.domain.approval import Verb
from tests.component.entrance.raw_client import ERAS, Era, event, listening, names
from tests.fakes.approvals import Inbox
from tests.fakes.calls import CallHouse
from tests.fakes.tools import GET_ITEM
from tests.fakes.world import AGENT, TASK, FakeWorld
from tests.servers.anthropic import ModelServer, model_server
from tests.servers.door import RUN, Door, open_door

MINE = {"wiki": ConnectionRules({"get_item": ToolRule(Mode.READ)}, Mode.FORBIDDEN)}
CHANGED = "notifications/tools/list_changed"


@pytest.fixture
async def model() -> AsyncIterator[ModelServer]:
    async with model_server() as server:
        yield server


@pytest.fixture
async def http() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(20)) as session:
        yield session


@pytest.fixture
async def house(tmp_path: Path) -> CallHouse:
    house = CallHouse(Inbox(FakeWorld(tmp_path)))
    house.wiki.offers = (*house.wiki.offers, GET_ITEM)
    await house.running(id=RUN)
    return house


@pytest.fixture
async def door(tmp_path: Path, model: ModelServer, house: CallHouse) -> AsyncIterator[Door]:
    async with open_door(tmp_path, model, more=[house.wiki], rules=house.rules) as opened:
        opened.reopen(task=TASK.id, project="DEMO", agent=AGENT.bot, tools={}, tool_rules=MINE)
        yield opened


@pytest.mark.parametrize("verb", [Verb.RUN, Verb.RULE])
@pytest.mark.parametrize("era", ERAS)
async def test_a_tool_that_people_open_or_take_back_is_told(
    door: Door, house: CallHouse, http: aiohttp.ClientSession, era: Era, verb: Verb
) -> None:
    item = await house.asking.ask(door.session, "wiki", "write", "to publish")
    async with listening(door, http, era) as stream:
        assert await names(door, http, era) == ["get_item"]
        await house.decide(item.id, verb)
        assert (await event(stream))["method"] == CHANGED
        assert await names(door, http, era) == ["get_item", "write"]
        await house.decide(item.id, Verb.REVOKE)
        assert (await event(stream))["method"] == CHANGED
        assert await names(door, http, era) == ["get_item"]


@pytest.mark.parametrize("era", ERAS)
async def test_a_client_that_listens_only_after_the_change_is_told_all_the_same(
    door: Door, house: CallHouse, http: aiohttp.ClientSession, era: Era
) -> None:
    item = await house.asking.ask(door.session, "wiki", "write", "to publish")
    assert await names(door, http, era) == ["get_item"]
    await house.decide(item.id, Verb.RUN)
    async with listening(door, http, era) as stream:
        assert (await event(stream))["method"] == CHANGED


@pytest.mark.parametrize("era", ERAS)
async def test_the_stream_ends_with_the_run(
    door: Door, http: aiohttp.ClientSession, era: Era
) -> None:
    async with listening(door, http, era) as stream:
        door.registry.close(RUN)
        left = await stream.read()
    assert b'"method"' not in left, "nothing is told any more"
