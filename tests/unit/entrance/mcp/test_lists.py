"""Lists of several connections: one that hangs is not waited for twice, and comes later."""

import asyncio
from collections.abc import Sequence

import pytest

from entrance.errors import SandgateError, Unavailable
from entrance.mcp.connection import Caller, Kind, Starting
from entrance.mcp.exchange import Exchange
from entrance.mcp.lists import Came, Lists, Missing
from entrance.mcp.messages import Json
from tests.unit.entrance.mcp.test_gateway import SESSION, no_asking
from tests.unit.entrance.mcp.test_offering import OLD, OTHER, Server
from tests.waiting import until

CALLER = Caller(SESSION, Exchange("handshake"), no_asking)
SHORT = 0.01
LATE = Missing("slow has not answered yet; try again in a moment", comes=True)


class Slow(Server):
    """One that lists only when it is told to."""

    def __init__(self, *tools: Json, name: str = "slow") -> None:
        super().__init__(*tools)
        self.name = name
        self.go = asyncio.Event()
        self.asked = 0
        self.left = 0
        self.trouble: Exception | None = None

    async def listed(self, caller: Caller, kind: Kind) -> Sequence[Json]:
        self.asked += 1
        try:
            await self.go.wait()
        except asyncio.CancelledError:
            self.left += 1
            raise
        if self.trouble:
            raise self.trouble
        return self.tools


async def test_what_is_at_hand_costs_no_turn_of_the_loop() -> None:
    turns: list[None] = []
    asyncio.get_running_loop().call_soon(turns.append, None)
    found = await Lists(5).of(CALLER, [Server(OLD), Server(OTHER)], "tools")
    assert found == [[OLD], [OTHER]]
    assert not turns


async def test_all_are_asked_together_and_told_in_order() -> None:
    first, other = Slow(OLD, name="first"), Slow(OTHER, name="other")
    lists = Lists(5)

    async def both() -> None:
        await until(lambda: first.asked + other.asked == 2)
        other.go.set()
        first.go.set()

    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(both())
        assert await lists.of(CALLER, [first, other], "tools") == [[OLD], [OTHER]]


async def test_one_that_hangs_is_waited_for_once_and_its_coming_is_noted() -> None:
    slow, lists = Slow(OLD), Lists(5, SHORT)
    assert await lists.of(CALLER, [slow, Server(OTHER)], "tools") == [LATE, [OTHER]]
    before = lists.turn(CALLER)
    turns: list[None] = []
    asyncio.get_running_loop().call_soon(turns.append, None)
    assert await lists.of(CALLER, [slow], "tools") == [LATE]
    assert not turns, "its patience is spent"
    assert (slow.asked, lists.turn(CALLER)) == (1, before)
    slow.go.set()
    await until(lambda: lists.turn(CALLER) != before)
    assert await lists.of(CALLER, [slow], "tools") == [[OLD]]


async def test_who_wants_that_very_one_waits_longer() -> None:
    slow, lists = Slow(OLD), Lists(5, SHORT)
    await lists.of(CALLER, [slow], "tools")
    asyncio.get_running_loop().call_later(SHORT, slow.go.set)
    assert await lists.of(CALLER, [slow], "tools", 5) == [[OLD]]
    assert slow.asked == 1


async def test_one_that_never_lists_is_given_up_and_asked_anew() -> None:
    slow, lists = Slow(OLD), Lists(0.05, SHORT)
    await lists.of(CALLER, [slow], "tools")
    await until(lambda: slow.left == 1)
    await lists.of(CALLER, [slow], "tools")
    assert slow.asked == 2
    await lists.close()
    assert slow.left == 2


@pytest.mark.parametrize(
    ("trouble", "missing"),
    [
        (Unavailable("refused"), Missing("slow can't be reached")),
        (Starting("slow is being started"), Missing("slow is being started", comes=True)),
    ],
)
async def test_why_one_is_missing_is_told(trouble: SandgateError, missing: Came) -> None:
    slow = Slow(OLD)
    slow.trouble = trouble
    slow.go.set()
    assert await Lists(5).of(CALLER, [slow], "tools") == [missing]


async def test_tools_that_come_go_or_change_are_noted_and_nothing_else() -> None:
    server, lists, turns = Slow(OLD), Lists(5), []
    server.go.set()
    changes: list[tuple[Sequence[Json], Exception | None]] = [
        ([OLD], None), ([dict(OLD)], None), ([OLD, OTHER], None), ([OLD, OTHER], Unavailable("")),
        ([OLD, OTHER], Starting("it is being started")), ([OLD, OTHER], None),
    ]  # fmt: skip
    for server.tools, server.trouble in changes:
        await lists.of(CALLER, [server], "tools")
        turns.append(lists.turn(CALLER))
    assert turns == [0, 0, 1, 2, 2, 3]


@pytest.mark.parametrize(("again_s", "asked"), [(30, 1), (0, 2)])
async def test_one_that_was_away_is_asked_again_only_after_a_while(
    again_s: float, asked: int
) -> None:
    server, lists = Slow(OLD), Lists(5, again_s=again_s)
    server.go.set()
    server.trouble = Unavailable("refused")
    await lists.of(CALLER, [server], "tools")
    server.trouble = None
    lists.again(CALLER, [server])
    assert (server.asked, lists.turn(CALLER)) == (asked, asked - 1)


async def test_who_gives_up_takes_nobody_elses_list_along_but_the_runs_end_does() -> None:
    slow, lists = Slow(OLD), Lists(5)
    async with asyncio.TaskGroup() as tasks:
        first = tasks.create_task(lists.of(CALLER, [slow], "tools"))
        second = tasks.create_task(lists.of(CALLER, [slow], "tools"))
        await until(lambda: slow.asked == 1)
        first.cancel()
        await asyncio.wait([first])
        assert slow.left == 0
        lists.leave(SESSION.token_sha256)
    assert second.result() == [LATE]
    assert slow.left == 1


async def test_a_bug_is_told() -> None:
    slow = Slow(OLD)
    slow.trouble = ValueError("it")
    slow.go.set()
    with pytest.raises(ValueError, match="it"):
        await Lists(5).of(CALLER, [slow], "tools")
