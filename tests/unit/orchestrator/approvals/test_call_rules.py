"""Standing rules for tool calls: made with a decision, tried first, ended."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from entrance.mcp.policy import Call, decide
from orchestrator.approvals.handling import Decision
from orchestrator.domain.access import Edits, RecordedCall
from orchestrator.domain.approval import ApprovalState, Verb
from orchestrator.domain.kinds import CALL_RULE
from tests.fakes.approvals import Inbox
from tests.fakes.calls import ARGUMENTS, CallHouse, a_call, session_of
from tests.fakes.clock import START
from tests.fakes.world import FakeWorld


@pytest.fixture
def house(tmp_path: Path) -> CallHouse:
    return CallHouse(Inbox(FakeWorld(tmp_path)))


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
