"""Where the branches of a push are at the host."""

import pytest

from entrance.git.standing import Place, stand_of
from entrance.ports import Moved

ZERO, A, B, C = "0" * 40, "a" * 40, "b" * 40, "c" * 40
MADE, MOVED = Moved("refs/heads/agent/x/new", ZERO, B), Moved("refs/heads/agent/x/old", A, C)


@pytest.mark.parametrize(
    ("here", "place"),
    [
        pytest.param({MOVED.ref: A}, Place.BEFORE, id="as the push expects it"),
        pytest.param({MOVED.ref: C, MADE.ref: B}, Place.AFTER, id="as the push makes it"),
        pytest.param({MOVED.ref: A, MADE.ref: B}, Place.ELSEWHERE, id="only one has arrived"),
        pytest.param({MOVED.ref: B}, Place.ELSEWHERE, id="another has moved it"),
        pytest.param({}, Place.ELSEWHERE, id="it is gone"),
        pytest.param({MOVED.ref: A, MADE.ref: C}, Place.ELSEWHERE, id="another has made it"),
    ],
)
def test_all_of_them_are_before_or_after_or_it_is_a_conflict(
    here: dict[str, str], place: Place
) -> None:
    stand = stand_of((MADE, MOVED), here)
    assert stand.place is place
    assert bool(stand.words) == (place is Place.ELSEWHERE)


def test_what_is_in_the_way_is_said_by_name() -> None:
    words = stand_of((MADE, MOVED), {MOVED.ref: B, MADE.ref: C}).words
    assert (
        words == f"agent/x/new is at {C[:12]} already; agent/x/old is at {B[:12]}, not at {A[:12]}"
    )
    assert stand_of((MOVED,), {}).words == f"agent/x/old is gone, not at {A[:12]}"


def test_a_branch_that_has_become_an_alias_is_not_pushed_to() -> None:
    stand = stand_of((MOVED,), {MOVED.ref: A}, {MOVED.ref: "refs/heads/main"})
    assert stand.place is Place.ELSEWHERE
    assert "alias of main" in stand.words
