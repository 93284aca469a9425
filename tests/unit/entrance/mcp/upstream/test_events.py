"""Server-sent events, fed in pieces of any size."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from entrance.mcp.upstream.events import LARGEST, Event, EventReader, TooLarge

STREAM = (
    b": a comment\nevent: endpoint\ndata: /messages\n\n"
    b"id: 7\nretry: 500\ndata: one\ndata: two\r\n\r\n"
    b": alive\n\n"
    b"data:no blank\nodd: line\n\n"
    b"data: never ended"
)
EVENTS = [
    Event(b"/messages", "endpoint"),
    Event(b"one\ntwo", id="7", retry_ms=500),
    Event(b"no blank"),
]


@given(st.lists(st.integers(0, len(STREAM)), max_size=12))
def test_events_are_the_same_however_they_come(cuts: list[int]) -> None:
    ends = [0, *sorted(cuts), len(STREAM)]
    assert feed_all([STREAM[a:b] for a, b in pairwise(ends)]) == EVENTS


@pytest.mark.parametrize("line", [b"data: " + b"x" * 1000, b"data: x\n", b"x\n"])
def test_an_event_that_never_ends_is_too_large(line: bytes) -> None:
    """A long line, many lines, and many short ones that take more than their bytes."""
    piece = line * ((1 << 20) // len(line))
    with pytest.raises(TooLarge):
        feed_all([piece] * (LARGEST // len(piece) + 2))


def feed_all(pieces: list[bytes]) -> list[Event]:
    reader = EventReader()
    return [event for piece in pieces for event in reader.feed(piece)]


def test_comments_are_not_kept() -> None:
    piece = (b": " + b"x" * 1021 + b"\n") * 1024
    many = LARGEST // len(piece) + 2
    assert feed_all([*[piece] * many, b"data: y\n\n"]) == [Event(b"y")]


@pytest.mark.parametrize("said", [b"id: a\0b", b"retry: soon", b"event:"])
def test_what_makes_no_sense_is_not_there(said: bytes) -> None:
    assert EventReader().feed(said + b"\ndata: x\n\n") == [Event(b"x")]
