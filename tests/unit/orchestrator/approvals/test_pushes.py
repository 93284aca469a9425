"""A held push becomes an item, people are told, and it is decided about once."""

from dataclasses import replace
from datetime import timedelta

import pytest

from entrance.decision import Deny
from entrance.errors import Conflict, NotFound
from entrance.ports import Moved
from entrance.session import RunId
from orchestrator.approvals.handling import Decision
from orchestrator.approvals.items import MOST_A_RUN
from orchestrator.approvals.pushes import MOST_BYTES_A_TASK
from orchestrator.approvals.unsettled import Unsettled
from orchestrator.domain.access import Edits
from orchestrator.domain.approval import ApprovalState, Verb
from orchestrator.domain.kinds import OWED
from orchestrator.domain.run import Outcome
from tests.fakes.pushes import (
    NEW,
    OLD,
    OTHER,
    REASON,
    REF,
    ZERO,
    PushHouse,
    a_push,
    decide,
)
from tests.fakes.world import AGENT, REPOSITORY, TASK
from tests.unit.orchestrator.approvals.looking import end, now, said


async def test_the_agent_is_told_that_it_is_held_and_people_what_and_why(house: PushHouse) -> None:
    run = await house.running()
    push = a_push(run)
    house.kept.keep(push)
    told = await house.pushes.ask(push)
    (item,) = house.inbox.store.items.values()
    assert item.id in told
    assert "nothing needs to be pushed again" in told
    assert "\n" not in told
    assert (item.kind, item.state, item.run) == ("push", ApprovalState.WAITING, run.id)
    assert "agent/DEMO-7/fix" in item.title
    assert item.wanted["moved"] == [{"ref": REF, "old": ZERO, "new": NEW}]
    assert (item.wanted["sha256"], item.wanted["decision"]) == (push.sha256, 41)
    assert REPOSITORY in item.happens
    for words in (REASON, item.id, "agent/DEMO-7/fix"):
        assert words in said(house.inbox)


async def test_the_same_push_again_tells_how_it_stands(house: PushHouse) -> None:
    run = await house.running()
    item = await house.held(a_push(run))
    again = replace(a_push(run), id="e" * 32, decision=50)
    house.kept.keep(again)
    assert item in await house.pushes.ask(again)
    assert len(house.inbox.store.items) == 1
    assert set(house.kept.pushes) == {"f" * 32}, "the second bytes are dropped"
    await decide(house, item, Verb.DENY, "not this file")
    told = await house.pushes.ask(again)
    assert not house.kept.pushes, "nobody will allow it"
    assert "denied" in told
    assert "lead says: not this file" in told


async def test_the_next_run_that_pushes_the_same_is_told_of_the_item_that_is_open(
    house: PushHouse,
) -> None:
    run = await house.running()
    item = await house.held(a_push(run))
    await end(house.inbox, run, Outcome.FAILED)
    following = await house.running()
    assert item in await house.pushes.ask(replace(a_push(following), id="e" * 32))
    assert len(house.inbox.store.items) == 1


async def test_a_run_asks_so_often_and_a_task_has_so_much_kept(house: PushHouse) -> None:
    run = await house.running()
    large = replace(a_push(run), size_bytes=MOST_BYTES_A_TASK)
    await house.held(large)
    other = replace(a_push(run), id="e" * 32, moved=(Moved(REF, ZERO, OTHER),))
    with pytest.raises(Conflict, match="too much is held"):
        await house.pushes.ask(other)
    for number in range(MOST_A_RUN - 1):
        await house.inbox.asking.ask(run.id, f"https://a.example/{number}", "GET", "x")
    with pytest.raises(Conflict, match="wait for what people decide"):
        await house.pushes.ask(replace(other, size_bytes=1))


@pytest.mark.parametrize(
    ("verb", "state"), [(Verb.DENY, ApprovalState.DENIED), (Verb.EXPIRE, ApprovalState.EXPIRED)]
)
async def test_what_is_not_allowed_is_dropped_and_said_and_the_host_hears_nothing(
    house: PushHouse, verb: Verb, state: ApprovalState
) -> None:
    item = await house.held(a_push(await house.running()))
    if verb is Verb.DENY:
        await decide(house, item, verb, "no")
    else:
        house.inbox.fakes.clock.advance(timedelta(days=8).total_seconds())
        await house.inbox.keeping.expire()
        await house.releasing.look()
    assert now(house.inbox, item).state is state
    assert not house.kept.pushes
    assert (house.hosts.asked, house.hosts.posts) == (0, [])
    (record,) = house.audit.decisions("git_push")
    assert isinstance(record.decision, Deny)
    assert item in "".join(one.title for one in house.inbox.fakes.tracker.comments[TASK.id])
    assert ("denied by lead" if verb is Verb.DENY else "in time") in said(house.inbox)


@pytest.mark.parametrize("verb", [Verb.RUN, Verb.RULE])
async def test_a_push_is_not_allowed_for_longer(house: PushHouse, verb: Verb) -> None:
    item = await house.held(a_push(await house.running()))
    with pytest.raises(Conflict, match="no standing rule for pushes"):
        await house.inbox.deciding.decide(item, Decision(verb))
    with pytest.raises(ValueError, match="as it was pushed"):
        await house.inbox.deciding.decide(item, Decision(Verb.ONCE, edits=Edits("a.example")))
    with pytest.raises(ValueError, match="no standing rule for pushes"):
        await house.inbox.deciding.try_on_record(item, Edits())
    assert now(house.inbox, item).state is ApprovalState.WAITING


async def test_whoever_pushes_what_failed_asks_anew_and_its_bytes_stay(house: PushHouse) -> None:
    run = await house.running()
    first = await house.held(a_push(run))
    house.hosts.refs[REF] = OTHER
    house.kept.down = True
    await decide(house, first)
    assert now(house.inbox, first).came[OWED]
    house.kept.down = False
    del house.hosts.refs[REF]
    told = await house.pushes.ask(a_push(run))
    assert first not in told
    assert len(house.inbox.store.items) == 2
    house.start()
    await house.releasing.look()
    assert OWED not in now(house.inbox, first).came
    assert set(house.kept.pushes) == {"f" * 32}, "the new item needs them"


async def test_what_no_open_item_needs_is_dropped(house: PushHouse) -> None:
    run = await house.running()
    await house.held(a_push(run))
    stray = a_push(run, id="d" * 32)
    house.kept.keep(stray)
    house.kept.old = [stray.id, "f" * 32]
    await house.releasing.look()
    assert set(house.kept.pushes) == {"f" * 32}


async def test_the_reviewer_of_what_is_handed_in_is_told_what_is_not_there(
    house: PushHouse,
) -> None:
    run = await house.running()
    unsettled = Unsettled(house.inbox.store)
    assert await unsettled.told(TASK.id) == []
    item = await house.held(a_push(run))
    (told,) = await unsettled.told(TASK.id)
    assert "waits for a decision" in told
    assert item in told
    assert item in await unsettled.why_not(TASK.id)
    await decide(house, item)
    assert await unsettled.told(TASK.id) == []
    assert await unsettled.why_not(TASK.id) == ""


async def test_nobody_is_asked_about_a_run_that_is_not_there(house: PushHouse) -> None:
    with pytest.raises(NotFound):
        await house.pushes.ask(a_push(replace(await house.running(), id=RunId("nobody"))))
    assert AGENT.bot not in house.inbox.store.items
    assert OLD not in house.hosts.refs
