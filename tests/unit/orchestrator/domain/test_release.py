"""What is done next about something that is sent once."""

from dataclasses import replace
from datetime import timedelta

import pytest

from entrance.git.standing import Place, Stand
from orchestrator.domain.approval import UNDER_WAY, ApprovalState, Verb
from orchestrator.domain.release import (
    IN_FLIGHT,
    LONGEST_PAUSE,
    STALE,
    Later,
    Seen,
    Send,
    Settle,
    next_step,
    pause_after,
)
from tests.fakes.clock import START

BEFORE, AFTER = Stand(Place.BEFORE), Stand(Place.AFTER)
ELSEWHERE = Stand(Place.ELSEWHERE, "x is at y")
LONG_AGO = START - IN_FLIGHT
PERHAPS = (ApprovalState.RELEASING, ApprovalState.UNKNOWN)


def seen(state: ApprovalState, **changes: object) -> Seen:
    return replace(Seen(state, START, START), **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize("state", UNDER_WAY)
@pytest.mark.parametrize("refused", ["", "it is over"])
@pytest.mark.parametrize("stand", [None, AFTER, ELSEWHERE])
def test_nothing_is_sent_unless_the_host_has_just_said_that_it_is_not_there(
    state: ApprovalState, refused: str, stand: Stand | None
) -> None:
    step = next_step(seen(state, refused=refused, stand=stand, sent_at=LONG_AGO))
    assert not isinstance(step, Send)


@pytest.mark.parametrize("state", UNDER_WAY)
def test_what_may_not_be_sent_any_more_is_not_sent(state: ApprovalState) -> None:
    step = next_step(seen(state, refused="it is over", stand=BEFORE, sent_at=LONG_AGO))
    assert step == Settle(Verb.FAIL, "it is over")


@pytest.mark.parametrize("state", PERHAPS)
def test_what_may_have_been_sent_has_arrived_when_it_is_there_whatever_was_taken_back(
    state: ApprovalState,
) -> None:
    step = next_step(seen(state, refused="it is over", stand=AFTER, sent_at=LONG_AGO))
    assert step == Settle(Verb.ARRIVE)


def test_what_was_allowed_is_sent_when_the_host_is_where_the_push_expects_it() -> None:
    assert next_step(seen(ApprovalState.ALLOWED, stand=BEFORE)) == Send()
    assert next_step(seen(ApprovalState.ALLOWED, stand=ELSEWHERE)) == Settle(
        Verb.DIVERGE, "x is at y"
    )


@pytest.mark.parametrize("state", UNDER_WAY)
def test_what_was_allowed_long_ago_is_not_sent_whatever_happened_meanwhile(
    state: ApprovalState,
) -> None:
    long_ago = START - STALE - timedelta(seconds=1)
    step = next_step(seen(state, stand=BEFORE, allowed_at=long_ago, sent_at=long_ago))
    assert isinstance(step, Settle)
    assert step.verb is Verb.FAIL


@pytest.mark.parametrize("state", PERHAPS)
def test_what_may_be_on_its_way_is_waited_for_before_it_is_sent_again(state: ApprovalState) -> None:
    soon = seen(state, stand=BEFORE, sent_at=LONG_AGO + timedelta(seconds=1))
    assert isinstance(next_step(soon), Later)
    assert next_step(seen(state, stand=BEFORE, sent_at=LONG_AGO)) == Send()


@pytest.mark.parametrize("state", UNDER_WAY)
def test_a_host_that_can_not_be_asked_makes_unknown_only_what_may_have_been_sent(
    state: ApprovalState,
) -> None:
    step = next_step(seen(state, trouble="it is down", sent_at=LONG_AGO))
    assert isinstance(step, Later)
    assert "it is down" in step.words
    assert step.lost == (state in PERHAPS)


def test_pauses_get_longer_and_have_an_end() -> None:
    pauses = [pause_after(tries) for tries in range(40)]
    assert pauses == sorted(pauses)
    assert pauses[0] < pauses[1]
    assert pauses[-1] == LONGEST_PAUSE
