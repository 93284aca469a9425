"""A held tool call becomes an item, is decided, and is sent once."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from entrance.decision import Allow, Deny
from entrance.errors import Conflict, Forbidden
from entrance.mcp.canonical import canonical, hash_of
from entrance.mcp.policy import Call, decide
from entrance.ports import ToolResult
from entrance.tool_policy import Mode, ToolRule
from orchestrator.approvals.handling import Decision
from orchestrator.domain.access import Edits, RecordedCall
from orchestrator.domain.approval import ApprovalState, Verb
from orchestrator.domain.calls import LONGEST_ARGUMENTS, LONGEST_RESULT
from orchestrator.domain.kinds import CALL_RULE
from orchestrator.domain.run import Outcome, Run, RunState
from tests.fakes.approvals import Inbox
from tests.fakes.calls import ARGUMENTS, CallHouse, a_call, engagement, releasing, session_of
from tests.fakes.clock import START
from tests.fakes.world import TASK, FakeWorld


@pytest.fixture
def house(tmp_path: Path) -> CallHouse:
    return CallHouse(Inbox(FakeWorld(tmp_path)))


async def end(house: CallHouse, run: Run, outcome: Outcome) -> None:
    ended = replace(run, state=RunState.ENDED, outcome=outcome, version=run.version + 1)
    await house.inbox.fakes.runs.replace(ended)


def said(house: CallHouse) -> str:
    return "\n".join(one.text for one in house.inbox.fakes.tracker.comments[TASK.id])


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
        assert words in said(house)
    assert item.wanted["sha256"] in item.happens
    assert not house.wiki.calls


async def test_what_is_allowed_is_sent_once_recorded_said_and_wakes_the_task(
    house: CallHouse,
) -> None:
    run = await house.running()
    item = await house.held(a_call(run))
    await end(house, run, Outcome.HELD)
    house.wiki.answer = ToolResult("page 7 written", touched=("W-7",))
    done = await house.decide(item, note="go ahead")
    assert house.wiki.calls == [("write", ARGUMENTS)]
    assert (done.item.state, done.in_force, done.woken) == (ApprovalState.RELEASED, True, True)
    assert "page 7 written" in said(house)
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
    assert "nobody decided about it in time" in said(house)
    assert not house.wiki.calls


async def test_a_person_may_edit_the_arguments_which_is_recorded(house: CallHouse) -> None:
    item = await house.held(a_call(await house.running()))
    edited = {"page": "Draft", "text": "hello"}
    await house.decide(item, edits=Edits(arguments=edited))
    assert house.wiki.calls == [("write", edited)]
    granted = house.now(item).granted
    assert (granted["edited"], granted["sha256"]) == (True, hash_of(canonical(edited)))
    assert house.now(item).wanted["arguments"] == ARGUMENTS
    [decided] = house.audit.decisions("tool_call")
    assert decided.detail["edited"]


async def test_grants_are_looked_at_again_before_it_is_sent(house: CallHouse) -> None:
    item = await house.held(a_call(await house.running()))
    house.hire(engagement(ToolRule(Mode.FORBIDDEN)))
    done = await house.decide(item)
    assert done.item.state is ApprovalState.FAILED
    assert "write is forbidden to this run" in said(house)
    assert not house.wiki.calls


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(
            {"granted": {"arguments": {"page": "x"}, "sha256": "0", "edited": False}}, id="it"
        ),
    ],
)
async def test_arguments_that_are_not_those_that_were_allowed_are_not_sent(
    house: CallHouse, change: dict[str, Any]
) -> None:
    item = await house.held(a_call(await house.running()))
    await house.inbox.deciding.store.replace(
        replace(house.now(item), state=ApprovalState.ALLOWED, version=1, **change)
    )
    await house.releasing.look()
    assert house.now(item).state is ApprovalState.FAILED
    assert not house.wiki.calls


async def test_a_tool_that_gives_no_answer_is_unknown_and_never_called_again(
    house: CallHouse,
) -> None:
    run = await house.running()
    item = await house.held(a_call(run))
    house.wiki.hangs = True
    await house.decide(item)
    assert house.now(item).state is ApprovalState.UNANSWERED
    assert "whether it was done is unknown" in said(house)
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


async def test_an_agents_user_decides_nothing(house: CallHouse) -> None:
    item = await house.held(a_call(await house.running()))
    with pytest.raises(Forbidden):
        await house.inbox.deciding.decide(item, Decision(Verb.ONCE, "bot-rex"))


async def test_a_standing_rule_is_made_with_the_decision_and_is_in_force_at_once(
    house: CallHouse,
) -> None:
    run = await house.running()
    item = await house.held(a_call(run))
    until = START + timedelta(days=365)
    bounds = {"properties": {"page": {"pattern": "^H"}}, "required": ["page"]}
    await house.decide(item, Verb.RULE, edits=Edits(bounds=bounds), until=until)
    assert house.wiki.calls == [("write", ARGUMENTS)], "the held call itself is made, too"
    [rule] = [one for one in house.inbox.store.items.values() if one.kind == CALL_RULE]
    assert (rule.state, rule.decided_by, rule.until) == (ApprovalState.STANDING, "lead", until)
    later = session_of(await house.running())
    assert [one.id for one in house.rules.of(later)] == [rule.id]
    call = Call("wiki", "write", {"page": "Help"})
    assert decide(later, call, house.rules.of(later)).rule == f"approval/{rule.id}"
    other = Call("wiki", "write", {"page": "Start"})
    assert decide(later, other, house.rules.of(later)).rule == "needs_approval"
    stranger = replace(later, envelopes=(), agent="bot-max")
    assert not house.rules.of(stranger)
    await house.decide(rule.id, Verb.REVOKE)
    assert not house.rules.of(later)


async def test_a_rule_ends_with_its_day_and_with_the_store(house: CallHouse) -> None:
    item = await house.held(a_call(await house.running()))
    await house.decide(item, Verb.RULE, until=START + timedelta(days=1))
    later = session_of(await house.running())
    assert house.rules.of(later)
    house.inbox.store.down = True
    assert not await house.rules.refresh()
    assert not house.rules.of(later)
    house.inbox.store.down = False
    await house.rules.refresh()
    assert house.rules.of(later)
    house.inbox.fakes.clock.advance(timedelta(days=2).total_seconds())
    assert not house.rules.of(later)


@pytest.mark.parametrize(
    "bounds",
    [
        pytest.param({"type": 3}, id="no schema"),
        pytest.param({"required": ["other"]}, id="they don't let the call itself through"),
        pytest.param({"$ref": "https://h.example/s"}, id="they are to be fetched"),
    ],
)
async def test_bounds_that_will_not_do_are_said_and_nothing_is_decided(
    house: CallHouse, bounds: dict[str, Any]
) -> None:
    item = await house.held(a_call(await house.running()))
    with pytest.raises(ValueError, match=r"."):
        await house.inbox.deciding.decide(item, Decision(Verb.RULE, edits=Edits(bounds=bounds)))
    assert house.now(item).state is ApprovalState.WAITING


async def test_a_rule_is_tried_on_the_recorded_calls_first(house: CallHouse) -> None:
    run = await house.running()
    item, denied = a_call(run), a_call(run, {"page": "Secret"})
    await house.held(denied)
    await house.decide(next(iter(house.inbox.store.items)), Verb.DENY)
    id_ = await house.held(item)

    def recorded(
        arguments: dict[str, Any] | None, sha256: str = "", tool: str = "write"
    ) -> RecordedCall:
        return RecordedCall(START, "wiki", tool, sha256, arguments, run=run.id)

    house.inbox.record.called = [
        recorded({"page": "Home"}), recorded({"page": "Help"}), recorded({"page": 3}),
        recorded(None), recorded(None, denied.sha256), recorded({"page": "x"}, tool="other"),
    ]  # fmt: skip
    bounds = {"properties": {"page": {"type": "string"}}}
    found = await house.inbox.deciding.try_on_record(id_, Edits(bounds=bounds))
    assert (found.would_allow, found.denied_by_people, found.untold) == (3, 1, 1)
    assert found.hosts == {"wiki/write": 3}
    narrow = await house.inbox.deciding.try_on_record(id_, Edits())
    assert narrow.would_allow == 0, "without bounds it is for these very arguments"


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
