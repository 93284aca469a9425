"""Events out of chunks."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from entrance.model.dialects.sse import EVENT_BYTES, Events, data_of, each

PIECES = st.lists(
    st.sampled_from([b"data: x", b"\n", b"\r\n", b"\n\n", b"event: y", b"\r\r"]), max_size=20
)


@given(PIECES.map(b"".join), st.lists(st.integers(0, 200), max_size=10))
def test_no_byte_is_lost_or_moved_however_chunks_fall(raw: bytes, cuts: list[int]) -> None:
    edges = sorted({0, len(raw), *(cut for cut in cuts if cut < len(raw))})
    events = Events()
    out = [events.feed(raw[a:b]) for a, b in pairwise(edges)]
    assert b"".join(out) + events.rest() == raw
    assert events.rest() == b""


@pytest.mark.parametrize("end", [b"\n\n", b"\r\n\r\n"])
def test_only_whole_events_come_out(end: bytes) -> None:
    events = Events()
    assert events.feed(b"data: a" + end + b"data: b") == b"data: a" + end
    assert events.feed(end[:1]) == b""
    assert events.feed(end[1:]) == b"data: b" + end


def test_an_event_without_end_does_not_fill_the_memory() -> None:
    events = Events()
    assert events.feed(b"data: " + b"x" * EVENT_BYTES) != b""
    assert events.rest() == b""


def test_the_data_of_events_is_found_with_and_without_a_blank() -> None:
    assert list(data_of(b"event: a\ndata: 1\n\n: note\ndata:2\r\n\r\n")) == [b"1", b"2"]


@given(PIECES.map(b"".join))
def test_one_event_at_a_time_loses_nothing(raw: bytes) -> None:
    assert b"".join(each(raw)) == raw


def test_events_come_one_by_one_each_with_its_end() -> None:
    assert list(each(b"a\n\nb\r\n\r\nc")) == [b"a\n\n", b"b\r\n\r\n", b"c"]
