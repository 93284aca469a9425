"""What is asked of several servers at once."""

import asyncio
from dataclasses import replace

import pytest

from entrance.errors import Unavailable
from entrance.mcp.beyond import Beyond
from entrance.mcp.connection import Caller
from entrance.mcp.exchange import Exchange
from entrance.mcp.lists import Lists
from entrance.mcp.messages import Json
from entrance.mcp.offering import Offering
from tests.fakes.audit import FakeAudit
from tests.unit.entrance.mcp.test_gateway import SESSION, no_asking
from tests.unit.entrance.mcp.test_offering import Server

BOTH = replace(SESSION, tools={"one": frozenset(), "two": frozenset()})
CALLER = Caller(BOTH, Exchange("handshake"), no_asking)


class Waiting(Server):
    """One that answers once so many are asked."""

    def __init__(self, name: str, all_asked: asyncio.Barrier) -> None:
        super().__init__()
        self.name = name
        self._all_asked = all_asked

    async def do(self, caller: Caller, method: str, params: Json) -> Json:
        self.called.append(params["level"])
        await self._all_asked.wait()
        return {}


def house(audit: FakeAudit) -> tuple[Beyond, list[Waiting]]:
    barrier = asyncio.Barrier(2)
    servers = [Waiting(name, barrier) for name in ("one", "two")]
    offering = Offering({each.name: each for each in servers}, Lists(5), None)
    return Beyond(offering, audit, lambda: 0.0), servers


async def test_a_level_is_set_at_all_servers_together() -> None:
    beyond, servers = house(FakeAudit())
    async with asyncio.timeout(5):
        assert await beyond.level(CALLER, {"level": "debug"}) == {}
    assert [each.called for each in servers] == [["debug"], ["debug"]]


async def test_what_can_not_be_recorded_is_asked_of_none() -> None:
    audit = FakeAudit()
    audit.down = True
    beyond, servers = house(audit)
    with pytest.raises(Unavailable):
        await beyond.level(CALLER, {"level": "debug"})
    assert [each.called for each in servers] == [[], []]
