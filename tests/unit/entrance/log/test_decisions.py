"""Which decisions wait for what comes of them."""

import pytest

from entrance.log.decisions import LATELY, Open, OpenDecisions
from tests.fakes.clock import START

EGRESS = Open("egress", START, "r")


def test_a_decision_is_ended_once_by_its_own_door() -> None:
    decisions = OpenDecisions()
    decisions.begin(EGRESS, 7)
    assert (decisions.may_end(7, "egress"), decisions.may_end(7, "git")) == (True, False)
    assert decisions.end(7) == EGRESS
    assert not decisions.may_end(7, "egress")
    assert decisions.end(7) is None


def test_it_is_quiet_when_nothing_goes_on_or_only_what_goes_on_for_long() -> None:
    decisions = OpenDecisions()
    assert decisions.quiet(START)
    decisions.begin(EGRESS, 7)
    assert not decisions.quiet(START + LATELY)
    assert decisions.quiet(START + 2 * LATELY)
    decisions.begin(Open("mcp", START + 2 * LATELY), 8)
    assert not decisions.quiet(START + 2 * LATELY)
    decisions.end(8)
    assert decisions.quiet(START + 2 * LATELY)


@pytest.mark.parametrize(("seq", "may"), [(0, False), (1, True), (5, True), (6, False)])
def test_what_was_decided_before_a_restart_may_be_ended(seq: int, may: bool) -> None:  # noqa: FBT001
    assert OpenDecisions(floor=5).may_end(seq, "egress") is may


def test_of_very_many_the_oldest_are_forgotten_and_may_be_ended_all_the_same() -> None:
    decisions = OpenDecisions(most=3)
    for seq in range(1, 6):
        decisions.begin(EGRESS, seq)
    assert [decisions.end(seq) for seq in (1, 2)] == [None, None]
    assert decisions.may_end(2, "egress")
    assert decisions.end(3) == EGRESS
