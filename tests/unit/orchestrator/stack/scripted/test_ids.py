"""The ids of tool calls say where they are from."""

import pytest

from orchestrator.stack.scripted import ids


@pytest.mark.parametrize("prefix", ["", "call_", "toolu_"])
@pytest.mark.parametrize("turn", [0, 7, 999, 1000])
def test_an_id_says_its_answer_and_its_turn(prefix: str, turn: int) -> None:
    answer = ids.answer_at(ids.point("system", ("prompt",)), "a", turn)
    ours = f"{prefix}{ids.call_of(answer, 3)}"
    assert (ids.answer_of(ours), ids.turn_of(ours, "a")) == (answer, turn)
    assert ids.turn_of(ours, "another conversation") is None


@pytest.mark.parametrize("foreign", ["", "1", "call_1", "toolu_01A09q90qw90lq917835lq9", "x" * 29])
def test_other_ids_say_nothing(foreign: str) -> None:
    assert (ids.answer_of(foreign), ids.turn_of(foreign, "a")) == (None, None)


def test_a_repeated_request_is_at_the_same_place_and_another_is_not() -> None:
    assert ids.point("a", 1) == ids.point("a", 1) != ids.point("a", 2)
