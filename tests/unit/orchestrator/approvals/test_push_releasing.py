"""What was allowed waits for its turn: while the host is away, and while others can't be sent."""

from dataclasses import replace
from datetime import timedelta

import pytest

from entrance.ports import Moved
from orchestrator.approvals.handling import Decision
from orchestrator.domain.approval import ApprovalState, Verb
from orchestrator.domain.kinds import OWED
from orchestrator.domain.run import Outcome
from tests.fakes.pushes import (
    OTHER,
    REF,
    ZERO,
    PushHouse,
    a_push,
    allow,
    decide,
    releasing,
)
from tests.fakes.world import TASK
from tests.unit.orchestrator.approvals.looking import end, now
from tests.waiting import until


async def test_while_the_host_is_away_it_waits_and_may_be_taken_back(house: PushHouse) -> None:
    item = await house.held(a_push(await house.running()))
    house.hosts.down = True
    await allow(house, item)
    await house.releasing.look()
    assert now(house.inbox, item).state is ApprovalState.ALLOWED
    assert "nothing was sent yet" in str(now(house.inbox, item).came["words"])
    await house.releasing.look()
    assert house.hosts.asked == 1, "it waits a while before it asks again"
    done = await decide(house, item, Verb.REVOKE)
    assert done.item.state is ApprovalState.REVOKED
    assert not house.kept.pushes


async def test_what_was_allowed_is_not_sent_days_later(house: PushHouse) -> None:
    item = await house.held(a_push(await house.running()))
    house.hosts.down = True
    await allow(house, item)
    house.inbox.fakes.clock.advance(timedelta(days=1, seconds=1).total_seconds())
    house.hosts.down = False
    await house.releasing.look()
    assert now(house.inbox, item).state is ApprovalState.FAILED
    assert house.hosts.posts == []


@pytest.mark.parametrize("verb", [Verb.ONCE, Verb.DENY])
async def test_a_task_that_waits_for_it_goes_on_once_it_is_known_what_came_of_it(
    house: PushHouse, verb: Verb
) -> None:
    run = await house.running()
    item = await house.held(a_push(run))
    await end(house.inbox, run, Outcome.ASKED)
    done = await decide(house, item, verb, "well")
    assert done.woken
    ((task, words, user),) = house.inbox.woken
    assert (task, user) == (TASK.id, "lead")
    assert ("at the host now" if verb is Verb.ONCE else "denied") in words


async def test_a_task_does_not_go_on_while_its_push_is_on_its_way(house: PushHouse) -> None:
    run = await house.running()
    item = await house.held(a_push(run))
    await end(house.inbox, run, Outcome.ASKED)
    house.hosts.down = True
    await allow(house, item)
    await house.releasing.look()
    assert house.inbox.woken == []
    house.hosts.down = False
    house.inbox.fakes.clock.advance(3600)
    await house.releasing.look()
    assert len(house.inbox.woken) == 1


async def test_an_outage_of_the_store_ends_no_loop(house: PushHouse) -> None:
    item = await house.held(a_push(await house.running()))
    house.inbox.store.down = True
    async with releasing(house):
        await until(lambda: house.inbox.store.refused > 1)
        house.inbox.store.down = False
        done = await house.inbox.deciding.decide(item, Decision(Verb.ONCE))
    assert done.item.state is ApprovalState.RELEASED


async def test_an_item_that_can_not_be_read_keeps_no_other_from_being_sent(
    house: PushHouse,
) -> None:
    run = await house.running()
    item = await house.held(a_push(run))
    await allow(house, item)
    allowed = now(house.inbox, item)
    broken = {
        "of another form": replace(allowed, wanted={"kept": "x"}),
        "claimed by another": replace(
            allowed, state=ApprovalState.RELEASING, came={"grant": {"strange": 1}, "sent_at": "?"}
        ),
        "owed": replace(allowed, state=ApprovalState.DENIED, wanted={}, came={OWED: True}),
    }
    broken = {name: replace(one, id=name) for name, one in broken.items()}
    house.inbox.store.items = {**broken, **house.inbox.store.items}
    other = a_push(run, id="e" * 32, moved=(Moved(f"{REF}2", ZERO, OTHER),))
    house.kept.keep(other)
    assert "held as" in await house.pushes.ask(other)
    await house.releasing.look()
    assert now(house.inbox, item).state is ApprovalState.RELEASED
    assert {name: now(house.inbox, name).state for name in broken} == {
        name: one.state for name, one in broken.items()
    }
