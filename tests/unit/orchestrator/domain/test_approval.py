"""What can become of an item of the inbox."""

from dataclasses import replace
from datetime import timedelta

import pytest

from entrance.session import RunId
from orchestrator.domain.approval import IN_FORCE, STATES, ApprovalState, Scope, Verb, Verdict
from orchestrator.domain.kinds import (
    CALL_RULE,
    KINDS,
    OWED,
    PUSH,
    TOOL_CHANGE,
    Kind,
    conflict_of,
    decided,
    kind_of,
    moved_on,
    used_up,
)
from tests.fakes.approvals import ITEM
from tests.fakes.clock import START

EXAMPLES = {kind: replace(ITEM, kind=kind) for kind in KINDS}
ASKED_FOR = [kind for kind in KINDS.values() if kind.name not in {CALL_RULE, TOOL_CHANGE}]
"""Kinds of what agents want; a standing rule is made by people, and a change of tools by a server."""


def test_every_state_is_told_and_reached() -> None:
    assert STATES.keys() == set(ApprovalState)
    reached = {state for kind in KINDS.values() for state in kind.after.values()}
    assert {*reached, ApprovalState.WAITING} == set(ApprovalState)


@pytest.mark.parametrize("kind", ASKED_FOR, ids=lambda kind: kind.name)
def test_whoever_asks_again_gets_an_answer_in_every_state_of_the_kind(kind: Kind) -> None:
    assert kind.answers.keys() == {*kind.after.values(), ApprovalState.WAITING}
    assert kind.said.keys() <= kind.answers.keys()
    assert kind.over <= kind.answers.keys()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("state", ApprovalState)
@pytest.mark.parametrize("verb", Verb)
def test_only_what_the_table_has_can_be_done(kind: str, state: ApprovalState, verb: Verb) -> None:
    item = replace(EXAMPLES[kind], state=state, decided_by="lead")
    verdict = Verdict(verb, "lead", START)
    allowed = KINDS[kind].after
    if (state, verb) in allowed:
        after = decided(item, verdict)
        assert (after.state, after.version) == (allowed[state, verb], 1)
    else:
        assert item.id in conflict_of(item, verb)
        with pytest.raises(ValueError, match=item.id):
            decided(item, verdict)


@pytest.mark.parametrize("kind", ASKED_FOR, ids=lambda kind: kind.name)
def test_nothing_is_decided_twice(kind: Kind) -> None:
    denied = decided(EXAMPLES[kind.name], Verdict(Verb.DENY, "lead", START, "no"))
    assert all(conflict_of(denied, verb) for verb in Verb)


@pytest.mark.parametrize("verb", [Verb.RUN, Verb.RULE])
def test_a_push_is_allowed_once_or_denied_and_nothing_else(verb: Verb) -> None:
    assert "no standing rule for pushes" in conflict_of(EXAMPLES[PUSH], verb)


def test_a_push_is_never_among_what_opens_something() -> None:
    assert not IN_FORCE & set(KINDS[PUSH].after.values())


def test_of_a_push_that_is_over_something_is_owed() -> None:
    for verb in (Verb.DENY, Verb.EXPIRE):
        assert decided(EXAMPLES[PUSH], Verdict(verb, "lead", START)).came == {OWED: True}
    allowed = decided(EXAMPLES[PUSH], Verdict(Verb.ONCE, "lead", START))
    assert allowed.came == {}
    assert moved_on(allowed, Verb.ARRIVE, {"words": "x"}).came == {"words": "x", OWED: True}
    assert decided(ITEM, Verdict(Verb.DENY, "lead", START)).came == {}


def test_a_kind_that_is_not_known_here_is_said() -> None:
    with pytest.raises(ValueError, match="is of the kind telepathy"):
        kind_of(replace(ITEM, kind="telepathy"))


def test_a_verdict_keeps_who_when_and_what() -> None:
    until = START + timedelta(days=3)
    scope = Scope("project", "WEB")
    after = decided(
        ITEM, Verdict(Verb.RULE, "lead", START, "fine", {"host": "a"}, "", scope, until)
    )
    assert (after.decided_by, after.decided_at, after.note) == ("lead", START, "fine")
    assert (after.granted, after.scope, after.until) == ({"host": "a"}, scope, until)
    revoked = decided(after, Verdict(Verb.REVOKE, "boss", until))
    assert (revoked.decided_by, revoked.granted, revoked.scope) == ("boss", {"host": "a"}, scope)


def test_it_opens_something_only_while_it_is_in_force() -> None:
    for state in ApprovalState:
        item = replace(ITEM, state=state, until=START + timedelta(hours=1))
        assert item.opens(START) == (state in IN_FORCE)
        assert not item.opens(START + timedelta(hours=1))


@pytest.mark.parametrize("state", [ApprovalState.ALLOWED_ONCE, ApprovalState.ALLOWED_RUN])
def test_what_is_allowed_to_a_run_is_for_no_other(state: ApprovalState) -> None:
    item = replace(ITEM, state=state, granted_to="run1", scope=Scope("project", "WEB"))
    assert item.is_for(RunId("run1"), "e", "a", "p")
    assert not item.is_for(RunId("run2"), "WEB/WEB-1", "bot-rex", "WEB")
    assert not replace(item, granted_to="").is_for(RunId("run1"), "WEB/WEB-1", "bot-rex", "WEB")


@pytest.mark.parametrize(
    ("scope", "fits"),
    [
        (Scope("engagement", "WEB/WEB-1"), True),
        (Scope("engagement", "WEB/WEB-9"), False),
        (Scope("agent", "bot-rex"), True),
        (Scope("agent", "bot-max"), False),
        (Scope("project", "WEB"), True),
        (Scope("project", "bot-rex"), False),
        (None, False),
    ],
)
def test_a_standing_rule_is_for_the_runs_of_its_scope(scope: Scope | None, fits: object) -> None:
    item = replace(ITEM, state=ApprovalState.STANDING, scope=scope)
    assert item.is_for(RunId("later"), "WEB/WEB-1", "bot-rex", "WEB") == fits


def test_who_is_let_go_and_hired_again_has_what_was_standing() -> None:
    """The new engagement is another item; the agent and the project are the same."""
    scope = Scope("engagement", "WEB/WEB-1")
    item = replace(ITEM, state=ApprovalState.STANDING, scope=scope)
    assert item.is_for(RunId("later"), "WEB/WEB-9", "bot-rex", "WEB")
    assert not item.is_for(RunId("later"), "WEB/WEB-9", "bot-max", "WEB")
    assert not item.is_for(RunId("later"), "SHOP/SHOP-1", "bot-rex", "SHOP")


def test_asking_again_is_new_only_when_the_last_answer_is_used_up() -> None:
    over = {ApprovalState.EXPIRED, ApprovalState.REVOKED}
    assert {state for state in ApprovalState if used_up(replace(ITEM, state=state))} == over
    told = {state for state in ApprovalState if used_up(replace(ITEM, state=state, told=True))}
    assert told == {*over, ApprovalState.ALLOWED_ONCE}
