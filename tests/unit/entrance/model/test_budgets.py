"""Budgets in use, by many calls at once."""

import asyncio
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from entrance.errors import Unavailable
from entrance.model.budgets import Budgets, Busy, Empty, Reservation
from entrance.model.envelope import Claim
from entrance.ports import Usage
from entrance.session import Envelope, RunId, Session, TaskId
from tests.fakes.meter import FakeMeter

LEAST = Decimal("0.01")


def usd(text: str) -> Decimal:
    return Decimal(text)


def session(run: str = "r", budget: str = "2", *envelopes: Envelope) -> Session:
    return Session(
        RunId(run), TaskId("P/T"), "P", "bot", "10.0.0.2", run,
        budget_usd=usd(budget), envelopes=envelopes,
    )  # fmt: skip


def engagement(limit: str) -> Envelope:
    return Envelope("engagement", "P/E-1", usd(limit))


async def reserved(budgets: Budgets, who: Session, worst: str) -> Reservation:
    held = await budgets.reserve(who, Claim(usd(worst), LEAST))
    assert isinstance(held, Reservation)
    return held


def cost(text: str) -> Usage:
    return Usage(cost_usd=usd(text), calls=1)


async def test_what_is_not_used_is_there_for_the_next_call() -> None:
    meter = FakeMeter()
    budgets = Budgets(meter)
    for _ in range(3):
        held = await reserved(budgets, session(), "1.5")
        await budgets.settle(held, cost("0.1"))
    assert meter.usage[RunId("r")].cost_usd == usd("0.3")
    assert budgets.spent_usd(session()) == usd("0.3")


async def test_a_call_waits_for_others_to_end_and_then_goes_out() -> None:
    budgets = Budgets(FakeMeter())
    first = await reserved(budgets, session(), "1.5")
    async with asyncio.timeout(5), asyncio.TaskGroup() as tasks:
        second = tasks.create_task(reserved(budgets, session(), "1"))
        await asyncio.sleep(0)
        assert not second.done()
        await budgets.settle(first, cost("0.5"))
    assert second.result().usd == 1


async def test_a_call_that_waits_too_long_is_told_to_try_again() -> None:
    budgets = Budgets(FakeMeter(), patience_s=0.01)
    await reserved(budgets, session(), "1.5")
    assert await budgets.reserve(session(), Claim(usd("1"), LEAST)) == Busy()


async def test_a_call_that_is_given_up_while_it_waits_holds_nothing() -> None:
    budgets = Budgets(FakeMeter())
    first = await reserved(budgets, session(), "1.5")
    waiting = asyncio.ensure_future(budgets.reserve(session(), Claim(usd("1"), LEAST)))
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    await budgets.settle(first, Usage())
    assert (await reserved(budgets, session(), "2")).usd == 2


async def test_what_was_spent_before_this_process_counts() -> None:
    meter = FakeMeter()
    meter.usage[RunId("r")] = cost("1.5")
    meter.of_envelopes["engagement", "P/E-1"] = usd("8")
    budgets = Budgets(meter)
    who = session("r", "2", engagement("10"))
    assert (await reserved(budgets, who, "5")).usd == usd("0.5")
    again = Budgets(meter)
    other = session("s", "20", engagement("10"))
    assert (await reserved(again, other, "5")).usd == usd("0.5")


async def test_runs_of_one_engagement_can_not_overspend_it_together() -> None:
    budgets = Budgets(FakeMeter(), patience_s=0.01)
    one, two = (session(run, "5", engagement("6")) for run in "ab")
    held = await reserved(budgets, one, "4")
    assert await budgets.reserve(two, Claim(usd("4"), LEAST)) == Busy()
    await budgets.settle(held, cost("4"))
    assert (await reserved(budgets, two, "4")).usd == 2


async def test_a_run_draws_on_the_run_that_delegated_to_it() -> None:
    meter = FakeMeter()
    budgets = Budgets(meter, patience_s=0.01)
    parent = session("a", "3")
    child = session("b", "10", Envelope("run", "a", usd("3")))
    await budgets.settle(await reserved(budgets, parent, "1"), cost("1"))
    await budgets.settle(await reserved(budgets, child, "1.5"), cost("1.5"))
    assert (await reserved(budgets, parent, "3")).usd == usd("0.5")
    assert (await reserved(Budgets(meter), parent, "3")).usd == usd("0.5"), "after a crash too"


async def test_an_empty_envelope_is_named() -> None:
    meter = FakeMeter()
    meter.of_envelopes["engagement", "P/E-1"] = usd("10")
    who = session("r", "2", engagement("10"))
    found = await Budgets(meter).reserve(who, Claim(usd("1"), LEAST))
    assert found == Empty(engagement("10"), usd("10"))


async def test_a_budget_that_is_raised_is_there_at_once() -> None:
    meter = FakeMeter()
    meter.usage[RunId("r")] = cost("2")
    budgets = Budgets(meter)
    assert isinstance(await budgets.reserve(session(), Claim(usd("1"), LEAST)), Empty)
    assert (await reserved(budgets, session("r", "4"), "1")).usd == 1


async def test_a_call_may_grow_as_far_as_there_is_money() -> None:
    budgets = Budgets(FakeMeter())
    held = await reserved(budgets, session(), "0.5")
    assert budgets.grow(held, usd("0.4"))
    assert held.usd == usd("0.5")
    assert budgets.grow(held, usd("2"))
    assert not budgets.grow(held, usd("2.01"))
    await budgets.settle(held, cost("2"))
    assert isinstance(await budgets.reserve(session(), Claim(usd("1"), LEAST)), Empty)


async def test_what_can_not_be_stored_counts_all_the_same_and_is_settled_once() -> None:
    meter = FakeMeter()
    budgets = Budgets(meter)
    held = await reserved(budgets, session(), "1")
    meter.down = True
    with pytest.raises(Unavailable):
        await budgets.settle(held, cost("1"))
    with pytest.raises(Unavailable):
        await budgets.reserve(session(), Claim(usd("1"), LEAST))
    meter.down = False
    await budgets.settle(held, cost("1"))
    assert budgets.spent_usd(session()) == 1


@given(
    st.lists(st.tuples(st.decimals(0, 1, places=3), st.decimals(0, 1, places=3)), max_size=30),
    st.integers(1, 8),
)
def test_calls_at_once_never_overspend(calls: list[tuple[Decimal, Decimal]], at_once: int) -> None:
    async def run() -> None:
        meter = FakeMeter()
        budgets = Budgets(meter, patience_s=0.05)
        sessions = [session(run, "2", engagement("3")) for run in ("a", "b")]
        places = asyncio.Semaphore(at_once)

        async def call(number: int, worst: Decimal, part: Decimal) -> None:
            async with places:
                claim = Claim(max(worst, LEAST), LEAST)
                held = await budgets.reserve(sessions[number % 2], claim)
                if isinstance(held, Reservation):
                    await asyncio.sleep(0)
                    await budgets.settle(held, Usage(cost_usd=held.usd * part, calls=1))

        async with asyncio.TaskGroup() as tasks:
            for number, (worst, part) in enumerate(calls):
                tasks.create_task(call(number, worst, part))
        assert all(usage.cost_usd <= 2 for usage in meter.usage.values())
        assert sum(usage.cost_usd for usage in meter.usage.values()) <= 3

    asyncio.run(run())
