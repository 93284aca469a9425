"""What every `orchestrator.approvals.ports.PinStore` promises: the fake, and PocketBase."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from entrance.errors import Conflict
from orchestrator.adapters.pocketbase.pins import AT_ONCE, PocketBasePins
from orchestrator.approvals.ports import PinStore
from orchestrator.domain.pins import LONGEST_TOOL, pin_of
from tests.fakes.clock import START
from tests.fakes.pins import FakePins, a_tool
from tests.servers.pocketbase import pocketbase_server


@pytest.fixture(params=["fake", "pocketbase"])
async def pins(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[PinStore]:
    if request.param == "fake":
        yield FakePins()
        return
    with pocketbase_server(tmp_path) as server:
        async with server.client() as store:
            yield PocketBasePins(store)


async def test_what_was_stored_is_found_by_its_connection(pins: PinStore) -> None:
    long = pin_of("wiki", a_tool("ü" * (LONGEST_TOOL // 2 - 200), "long"), START)
    too_long = pin_of("wiki", a_tool("x" * LONGEST_TOOL, "a b/ü'"), START)
    mine = [pin_of("wiki", a_tool(name=f"t{n}"), START) for n in range(AT_ONCE + 1)]
    await pins.create([*mine, long, too_long])
    await pins.create([pin_of("other", a_tool(), START)])
    assert list(await pins.of_connection("wiki")) == [*mine, long, too_long]
    assert long.listed is not None
    assert too_long.listed is None
    assert not await pins.of_connection("wik")


async def test_the_first_one_of_a_tool_stays(pins: PinStore) -> None:
    first = pin_of("wiki", a_tool(), START)
    await pins.create([first])
    with pytest.raises(Conflict):
        await pins.create([pin_of("wiki", a_tool("Another."), START)])
    assert list(await pins.of_connection("wiki")) == [first]
