"""A held tool call becomes an item, is decided, and is sent once."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from entrance.decision import Allow, Deny
from entrance.errors import Conflict, Forbidden
from entrance.mcp.canonical import canonical, hash_of
from entrance.ports import ToolResult
from entrance.tool_policy import ToolRule
from orchestrator.approvals.handling import Decision
from orchestrator.approvals.unsettled import Unsettled
from orchestrator.domain.access import Edits
from orchestrator.domain.approval import ApprovalState, Verb
from orchestrator.domain.calls import LONGEST_ARGUMENTS, LONGEST_RESULT
from orchestrator.domain.run import Outcome
from orchestrator.domain.task import TaskStatus
from tests.fakes.approvals import Inbox
from tests.fakes.calls import ARGUMENTS, CallHouse, a_call, engagement, releasing
from tests.fakes.clock import START
from tests.fakes.world import TASK, FakeWorld
from tests.unit.orchestrator.approvals.looking import end, said


@pytest.fixture
def house(tmp_path: Path) -> CallHouse:
    return CallHouse(Inbox(FakeWorld(tmp_path)))


async def test_the_agent_is_told_at_once_and_people_exactly_what_and_why(house: CallHouse) -> None:
    run = await house.running()
    told = await house.calls.ask(a_call(run))
    (item,) = house.inbox.store.items.values()
    assert told.startswith(f"Held for approval, {item.id}: nothing was done yet")
    assert "wait_for_decision" in told
    assert (item.kind, item.state) == ("call", ApprovalState.WAITING)
    assert item.wanted["arguments"] == ARGUMENTS
    assert item.wanted["sha256"] == hash_of(canonical(ARGUMENTS))
    assert (item.wanted["decision"], item.cause["call"]) == (41, "call-1")
    for words in ('wiki: write {"page":"Home","text":"hello"}', "waits for a person", item.id):
        assert words in said(house.inbox)
    assert item.wanted["sha256"] in item.happens
    assert not house.wiki.calls


async def test_what_is_allowed_is_sent_once_recorded_said_and_wakes_the_task(
    house: CallHouse,
) -> None:
    run = await house.running()
    item = await house.held(a_call(run))
    await end(house.inbox, run, Outcome.HELD)
    house.wiki.answer = ToolResult("page 7 written", touched=("W-7",))
    done = await house.decide(item, note="go ahead")
    assert house.wiki.calls == [("write", ARGUMENTS)]
    assert (done.item.state, done.in_force, done.woken) == (ApprovalState.RELEASED, True, True)
    assert "page 7 written" in said(house.inbox)
    [(task, words, by)] = house.inbox.woken
    assert (task, by) == (TASK.id, "lead")
    assert "done; allowed by lead" in words
    assert "page 7 written" in words
    [decided] = house.audit.decisions("tool_call")
    outcome = house.audit.outcome_of(decided)
    assert decided.decision == Allow()
    assert (decided.rule, decided.detail["by"], decided.detail["held"]) == (
        f"approval/{item}", "lead", 41,
    )  # fmt: skip
    assert outcome is not None
    assert outcome.result == "ok"
    assert "page 7 written" not in repr(house.audit.records), "what it answered is not in the log"


async def test_a_double_click_and_two_people_at_once_send_it_once(house: CallHouse) -> None:
    item = await house.held(a_call(await house.running()))
    async with releasing(house):
        results = await asyncio.gather(
            *(
                house.inbox.deciding.decide(item, Decision(Verb.ONCE, user))
                for user in ("lead", "lead", "other")
            ),
            return_exceptions=True,
        )
    assert len([one for one in results if isinstance(one, Conflict)]) == 2
    assert house.wiki.calls == [("write", ARGUMENTS)]


async def test_what_is_denied_is_never_sent(house: CallHouse) -> None:
    run = await house.running()
    item = await house.held(a_call(run))
    await house.decide(item, Verb.DENY, note="not this page")
    assert not house.wiki.calls
    told = await house.calls.ask(a_call(run))
    assert "denied" in told
    assert "not this page" in told
    assert [one.decision.word for one in house.audit.decisions("tool_call")] == ["deny"]


async def test_what_nobody_decides_in_time_is_denied(house: CallHouse) -> None:
    run = await house.running()
    item = await house.held(a_call(run))
    house.inbox.fakes.clock.advance(timedelta(days=8).total_seconds())
    await house.inbox.keeping.expire()
    await house.releasing.look()
    assert house.now(item).state is ApprovalState.EXPIRED
    assert "nobody decided about it in time" in said(house.inbox)
    assert not house.wiki.calls


async def test_a_tool_that_gives_no_answer_is_unknown_and_never_called_again(
    house: CallHouse,
) -> None:
    run = await house.running()
    item = await house.held(a_call(run))
    house.wiki.hangs = True
    await house.decide(item)
    assert house.now(item).state is ApprovalState.UNANSWERED
    assert "whether it was done is unknown" in said(house.inbox)
    for _ in range(5):
        house.inbox.fakes.clock.advance(3600)
        await house.releasing.look()
    assert len(house.wiki.calls) == 1
    [decided] = house.audit.decisions("tool_call")
    outcome = house.audit.outcome_of(decided)
    assert outcome is not None
    assert outcome.result == "unknown"


async def test_while_a_connection_is_away_nothing_is_sent_and_it_may_be_taken_back(
    house: CallHouse,
) -> None:
    item = await house.held(a_call(await house.running()))
    house.wiki.down = True
    await house.inbox.deciding.store.replace(
        replace(
            house.now(item), state=ApprovalState.ALLOWED, version=1, decided_at=START,
            granted={"arguments": ARGUMENTS, "sha256": hash_of(canonical(ARGUMENTS)), "edited": False},
        )
    )  # fmt: skip
    await house.releasing.look()
    assert house.now(item).state is ApprovalState.ALLOWED
    await house.decide(item, Verb.REVOKE)
    assert house.now(item).state is ApprovalState.REVOKED
    assert not house.wiki.calls


async def test_the_agent_that_calls_again_is_told_what_came_of_it_once(house: CallHouse) -> None:
    run = await house.running()
    item = await house.held(a_call(run))
    await house.decide(item)
    later = await house.running()
    told = await house.calls.ask(a_call(later))
    assert "done, once" in told
    assert "It answered: done" in told
    assert "nothing was done yet" in await house.calls.ask(a_call(later)), "it wants it anew"


async def test_two_people_have_to_allow_what_is_granted_so(house: CallHouse) -> None:
    item = await house.held(a_call(await house.running(), two_people=True))
    first = await house.decide(item, user="lead")
    assert (first.item.state, first.in_force) == (ApprovalState.WAITING, False)
    with pytest.raises(Conflict, match="another must, too"):
        await house.inbox.deciding.decide(item, Decision(Verb.ONCE, "lead"))
    other = {"page": "Other"}
    await house.decide(item, user="second", edits=Edits(arguments=other))
    assert not house.wiki.calls, "who allows something else is a first one"
    await house.decide(item, user="lead", edits=Edits(arguments=other))
    assert house.wiki.calls == [("write", other)]


async def test_of_two_people_neither_hurry_nor_another_tab_makes_one(house: CallHouse) -> None:
    """Four eyes: two who click at once are one and another; one who clicks twice is one."""
    item = await house.held(a_call(await house.running(), two_people=True))
    async with releasing(house):
        twice = await asyncio.gather(
            *(house.inbox.deciding.decide(item, Decision(Verb.ONCE, "lead")) for _ in range(3)),
            return_exceptions=True,
        )
        assert len([one for one in twice if isinstance(one, Conflict)]) == 2
        assert not house.wiki.calls
        both = await asyncio.gather(
            *(house.inbox.deciding.decide(item, Decision(Verb.ONCE, u)) for u in ("lead", "other")),
            return_exceptions=True,
        )
    assert len([one for one in both if isinstance(one, Conflict)]) == 1
    assert house.now(item).state is ApprovalState.RELEASED
    assert house.wiki.calls == [("write", ARGUMENTS)]


async def test_a_task_is_not_approved_while_its_call_is_held_and_its_reviewer_is_told(
    house: CallHouse,
) -> None:
    unsettled = Unsettled(house.inbox.store)
    item = await house.held(a_call(await house.running()))
    assert await unsettled.told(TASK.id) == [
        f"The call of write of wiki waits for a decision: {item}."
    ]
    assert await unsettled.why_not(TASK.id) == f"a tool call of it is held still: {item}"
    await house.decide(item, Verb.DENY)
    assert (await unsettled.told(TASK.id), await unsettled.why_not(TASK.id)) == ([], "")


async def test_what_is_unknown_for_good_is_told_and_in_nobodys_way(house: CallHouse) -> None:
    unsettled = Unsettled(house.inbox.store)
    item = await house.held(a_call(await house.running()))
    house.wiki.hangs = True
    await house.decide(item)
    [told] = await unsettled.told(TASK.id)
    assert "whether it was done is not known" in told
    assert await unsettled.why_not(TASK.id) == ""


async def test_a_call_is_made_though_its_task_was_approved_past_us(house: CallHouse) -> None:
    """In Polarion itself nothing keeps a person from approving: what is held stays to be decided."""
    item = await house.held(a_call(await house.running()))
    tracker = house.inbox.fakes.tracker
    tracker.tasks[TASK.id] = replace(TASK, status=TaskStatus.DONE)
    done = await house.decide(item)
    assert (done.item.state, done.woken) == (ApprovalState.RELEASED, False)
    assert house.wiki.calls == [("write", ARGUMENTS)]


async def test_an_agents_user_decides_nothing(house: CallHouse) -> None:
    item = await house.held(a_call(await house.running()))
    with pytest.raises(Forbidden):
        await house.inbox.deciding.decide(item, Decision(Verb.ONCE, "bot-rex"))


async def test_what_is_too_long_to_be_read_by_a_person_is_not_held(house: CallHouse) -> None:
    run = await house.running()
    with pytest.raises(ValueError, match="can't be held"):
        await house.calls.ask(a_call(run, {"page": "x" * LONGEST_ARGUMENTS}))


async def test_a_very_long_answer_is_cut_and_says_so(house: CallHouse) -> None:
    item = await house.held(a_call(await house.running()))
    house.wiki.answer = ToolResult("\x01" * 100_000)
    await house.decide(item)
    words = str(house.now(item).came["words"])
    assert len(words) < LONGEST_RESULT
    assert "of 100000 characters" in words


async def test_a_denial_by_the_rules_is_not_in_the_way_of_a_person(house: CallHouse) -> None:
    """What is held for its arguments is sent when a person allows it."""
    held = ToolRule(arguments='{"maxProperties":0}', beyond="hold")
    house.hire(engagement(held))
    item = await house.held(a_call(await house.running()))
    await house.decide(item)
    assert house.wiki.calls == [("write", ARGUMENTS)]
    house.hire(engagement(replace(held, beyond="deny")))
    again = await house.held(a_call(await house.running(), {"page": "B"}))
    await house.decide(again)
    assert isinstance(house.audit.decisions("tool_call")[-1].decision, Deny)
    assert len(house.wiki.calls) == 1
