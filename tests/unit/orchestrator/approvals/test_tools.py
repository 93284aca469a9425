"""A tool that was not granted is asked for, opened for the run or for longer, and taken back."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from entrance.errors import Conflict, NotFound
from entrance.mcp.policy import Call, Ruled, decide
from entrance.session import Session
from entrance.tool_policy import ConnectionRules, Mode, ToolRule
from orchestrator.approvals.handling import Decision
from orchestrator.domain.access import Edits, RecordedCall
from orchestrator.domain.approval import Approval, ApprovalState, Verb
from orchestrator.domain.inbox import answer_to_agent
from orchestrator.domain.run import Outcome, Run, RunState
from orchestrator.domain.team import Grants
from tests.fakes.approvals import Inbox
from tests.fakes.calls import ARGUMENTS, CallHouse, a_call, engagement, session_of
from tests.fakes.clock import START
from tests.fakes.world import FakeWorld

CALL = Call("wiki", "write", ARGUMENTS)
RULES = {"wiki": ConnectionRules({"read": ToolRule(Mode.READ)}, Mode.FORBIDDEN)}
"""An engagement that has the wiki, and of its tools only one."""


@pytest.fixture
def house(tmp_path: Path) -> CallHouse:
    house = CallHouse(Inbox(FakeWorld(tmp_path)))
    house.hire(replace(engagement(), grants=Grants(tool_rules=RULES)))
    return house


def session(run: Run, **changes: Any) -> Session:
    return replace(session_of(run), tools={}, tool_rules=RULES, **changes)


async def asked(house: CallHouse, run: Run, tool: str = "write") -> Approval:
    return await house.asking.ask(session(run), "wiki", tool, "to publish")


def ruled(house: CallHouse, run: Run, call: Call = CALL) -> Ruled:
    """What becomes of a call of the run now."""
    return decide(house.rules.with_opened(session(run)), call)


async def ended(house: CallHouse, run: Run) -> None:
    over = replace(run, state=RunState.ENDED, outcome=Outcome.HELD, version=run.version + 1)
    await house.inbox.fakes.runs.replace(over)


async def test_a_person_is_told_who_wants_which_tool_and_what_follows(house: CallHouse) -> None:
    run = await house.running()
    item = await asked(house, run)
    assert (item.kind, item.title, item.why) == ("tool", "call write of wiki", "to publish")
    assert item.wanted["description"] == "Write a page."
    assert "what the connection itself forbids" in item.happens
    assert (await asked(house, run)).id == item.id
    assert "wait_for_decision" in answer_to_agent(item)
    assert ruled(house, run).rule == "not_granted", "asking opens nothing"


@pytest.mark.parametrize(
    ("mode", "word"), [(None, "allow"), ("read", "allow"), ("approval", "hold")]
)
async def test_allowed_for_the_run_it_has_the_tool_at_once_and_no_other_task_has(
    house: CallHouse, mode: Any, word: str
) -> None:
    run = await house.running()
    item = await asked(house, run)
    done = await house.decide(item.id, Verb.RUN, edits=Edits(mode=mode))
    assert (done.item.state, done.in_force) == (ApprovalState.ALLOWED_RUN, True)
    assert ruled(house, run).decision.word == word
    other: Any = {"id": "other", "task": "DEMO/DEMO-99"}
    assert ruled(house, replace(run, **other)).rule == "not_granted"
    assert ruled(house, run, Call("wiki", "drop")).rule == "not_granted"


async def test_the_log_names_the_decision_by_which_it_was_called(house: CallHouse) -> None:
    run = await house.running()
    item = await asked(house, run)
    await house.decide(item.id, Verb.RUN)
    assert ruled(house, run).rule == f"approval/{item.id}"


async def test_a_task_that_waits_goes_on_and_its_next_run_has_the_tool_and_then_none(
    house: CallHouse,
) -> None:
    run = await house.running()
    item = await asked(house, run)
    await ended(house, run)
    assert (await house.decide(item.id, Verb.RUN)).woken
    following = await house.running()
    await house.inbox.keeping.claim(following)
    await house.rules.refresh()
    assert ruled(house, following).decision.word == "allow"
    last = await house.running()
    await house.inbox.keeping.expire()
    await house.rules.refresh()
    assert ruled(house, last).rule == "not_granted"
    assert house.now(item.id).state is ApprovalState.EXPIRED


async def test_a_standing_rule_is_for_its_scope_until_its_day(house: CallHouse) -> None:
    item = await asked(house, await house.running())
    await house.decide(item.id, Verb.RULE, scope="agent", until=START + timedelta(days=2))
    later = await house.running()
    assert ruled(house, later).decision.word == "allow"
    stranger = session(later, agent="bot-max")
    assert house.rules.with_opened(stranger) is stranger
    house.inbox.fakes.clock.advance(timedelta(days=3).total_seconds())
    assert ruled(house, later).rule == "not_granted", "its day is over, though nobody has looked"


async def test_what_is_taken_back_is_gone_at_once(house: CallHouse) -> None:
    run = await house.running()
    item = await asked(house, run)
    await house.decide(item.id, Verb.RULE)
    assert ruled(house, run).decision.word == "allow"
    await house.decide(item.id, Verb.REVOKE)
    assert ruled(house, run).rule == "not_granted"


async def test_what_the_connection_forbids_is_not_asked_and_not_opened(house: CallHouse) -> None:
    item = await asked(house, await house.running())
    house.released.said = lambda _connection, _tool: Mode.FORBIDDEN
    with pytest.raises(ValueError, match="forbidden to all who use wiki"):
        await asked(house, await house.running())
    for verb in (Verb.RUN, Verb.RULE):
        with pytest.raises(ValueError, match="nobody can open it"):
            await house.inbox.deciding.decide(item.id, Decision(verb))
    assert house.now(item.id).state is ApprovalState.WAITING


async def test_what_there_is_not_and_what_is_granted_is_not_asked(house: CallHouse) -> None:
    run = await house.running()
    with pytest.raises(NotFound, match="wiki has no tool drop"):
        await asked(house, run, "drop")
    with pytest.raises(NotFound, match="no connection git; there are: wiki"):
        await house.asking.ask(session(run), "git", "push", "why")
    with pytest.raises(ValueError, match="is granted to you"):
        await asked(house, run, "read")
    assert not house.inbox.store.items


@pytest.mark.parametrize(
    "edits", [Edits(host="a.example"), Edits(arguments={}), Edits(paths=("/",))]
)
async def test_only_its_mode_can_be_chosen(house: CallHouse, edits: Edits) -> None:
    item = await asked(house, await house.running())
    with pytest.raises(ValueError, match="only its mode"):
        await house.inbox.deciding.decide(item.id, Decision(Verb.RUN, edits=edits))
    with pytest.raises(Conflict, match="for the run or by a standing rule"):
        await house.inbox.deciding.decide(item.id, Decision(Verb.ONCE))


async def test_a_call_of_it_that_was_held_is_made_though_its_run_is_over(house: CallHouse) -> None:
    """Else allowing the call would come to nothing: what it was granted by had ended with its run."""
    run = await house.running()
    item = await asked(house, run)
    await house.decide(item.id, Verb.RUN, edits=Edits(mode="approval"))
    await house.inbox.keeping.claim(run)
    held = await house.held(a_call(run))
    await ended(house, run)
    await house.inbox.keeping.expire()
    await house.rules.refresh()
    done = await house.decide(held)
    assert done.item.state is ApprovalState.RELEASED
    assert house.wiki.calls == [("write", ARGUMENTS)]
    await house.inbox.keeping.expire()
    assert house.now(item.id).state is ApprovalState.EXPIRED


async def test_it_is_tried_on_what_was_refused_and_held(house: CallHouse) -> None:
    run = await house.running()
    item = await asked(house, run)
    house.inbox.record.called = [
        RecordedCall(START, "wiki", "write", "", None, run=run.id, held=False),
        RecordedCall(START, "wiki", "write", "", {}, run="other"),
        RecordedCall(START, "wiki", "read", "", {}, run=run.id),
    ]
    found = await house.inbox.deciding.try_on_record(item.id, Edits())
    assert (found.would_allow, found.runs, found.denied_by_people) == (2, 2, 0)
    await house.decide(item.id, Verb.DENY)
    found = await house.inbox.deciding.try_on_record(item.id, Edits())
    assert found.denied_by_people == 1


async def test_an_outage_of_the_store_opens_nothing(house: CallHouse) -> None:
    run = await house.running()
    item = await asked(house, run)
    await house.decide(item.id, Verb.RULE)
    house.inbox.store.down = True
    await house.rules.refresh()
    assert ruled(house, run).rule == "not_granted"
    house.inbox.store.down = False
    await house.rules.refresh()
    assert ruled(house, run).decision.word == "allow"
