"""What is said of a push whose answer was lost, once it is known where its branches are."""

from entrance.git.unsettled import arrived_of
from entrance.ports import Moved
from tests.fakes.attested import ACCEPTED, NONE, REF, TIP, accepted

OTHER = "f" * 40
TWO = accepted(moved=(*ACCEPTED.moved, Moved(f"{REF}-too", NONE, OTHER)))


def test_a_push_that_arrived_whole_is_said_whole() -> None:
    assert arrived_of(TWO, TWO.moved) == TWO


def test_of_a_part_no_more_is_said_than_where_its_branches_are() -> None:
    """Which commits lead to it nobody knows any more: none that the host didn't take is vouched for."""
    part = arrived_of(TWO, ACCEPTED.moved)
    assert (part.moved, part.commits, part.onto) == (ACCEPTED.moved, (), (TIP,))
