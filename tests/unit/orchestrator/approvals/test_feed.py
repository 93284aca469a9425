"""What changes in the inbox is told from wherever a watcher was, or it is said that it can't be."""

from dataclasses import replace

import pytest

from entrance.errors import Conflict, Unavailable
from orchestrator.approvals.feed import Feed, TellingStore
from tests.fakes.approvals import ITEM, FakeApprovals


def told(feed: Feed, mark: str) -> list[int] | None:
    """The versions that came after a mark."""
    changes = feed.after(mark)
    return None if changes is None else [one.item.version for one in changes]


def test_it_goes_on_after_each_mark() -> None:
    feed = Feed("born")
    begin = feed.mark
    assert told(feed, begin) == []
    for version in range(3):
        feed.tell(replace(ITEM, version=version))
    assert told(feed, begin) == [0, 1, 2]
    changes = feed.after(begin)
    assert changes
    assert told(feed, changes[0].mark) == [1, 2]
    assert told(feed, feed.mark) == []


@pytest.mark.parametrize(
    "mark",
    ["", "born", "born-", "born--1", "born-x", "born-4", "other-1", "born-²"],
)
def test_a_mark_that_is_none_of_its_own_begins_anew(mark: str) -> None:
    feed = Feed("born")
    feed.tell(ITEM)
    assert feed.after(mark) is None


def test_who_was_away_for_longer_than_is_kept_begins_anew() -> None:
    feed = Feed("born", kept=2)
    begin = feed.mark
    feed.tell(ITEM)
    feed.tell(ITEM)
    assert told(feed, begin) is not None
    feed.tell(ITEM)
    assert told(feed, begin) is None


def test_what_may_have_been_changed_untold_begins_everybody_anew() -> None:
    feed = Feed("born")
    feed.tell(ITEM)
    mark = feed.mark
    feed.lost()
    assert told(feed, mark) is None
    feed.tell(ITEM)
    assert told(feed, mark) is None


async def test_what_is_stored_is_told_and_what_is_not_is_not() -> None:
    fakes, feed = FakeApprovals(), Feed("born")
    store, begin = TellingStore(fakes, feed), feed.mark
    with feed.watch() as flag:
        await store.create(ITEM)
        assert flag.is_set()
    await store.replace(replace(ITEM, version=1))
    with pytest.raises(Conflict):
        await store.replace(replace(ITEM, version=1))
    assert told(feed, begin) == [0, 1]
    fakes.down = True
    with pytest.raises(Unavailable):
        await store.replace(replace(ITEM, version=2))
    assert told(feed, begin) is None, "it may have been stored all the same"
