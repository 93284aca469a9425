"""execd's stream: cut anywhere, bounded, and never a success without a word on it."""

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from entrance.errors import Malformed
from orchestrator.adapters.opensandbox.events import (
    EVENT_LIMIT_BYTES,
    NOT_STARTED,
    OUTPUT_LIMIT_CHARS,
    Stream,
)


def frame(**fields: Any) -> bytes:
    return json.dumps({**fields, "timestamp": 1}).encode() + b"\n\n"


OUTPUT = frame(type="init", text="c1") + frame(type="stdout", text="one\n")
OUTPUT += frame(type="ping", text="pong") + frame(type="stderr", text="two\n")
DONE = frame(type="execution_complete", execution_time=3)


def read(*parts: bytes) -> Stream:
    stream = Stream()
    for part in parts:
        stream.feed(part)
    return stream


def test_a_finished_command_has_its_output_and_zero() -> None:
    stream = read(OUTPUT + DONE)
    assert (stream.command, stream.output, stream.exit_code) == ("c1", "one\ntwo\n", 0)


def test_a_failed_command_has_its_code() -> None:
    stream = read(OUTPUT + frame(type="error", error={"ename": "E", "evalue": "3"}))
    assert stream.exit_code == 3


def test_a_command_that_could_not_be_started_says_why() -> None:
    stream = read(frame(type="error", error={"evalue": "[Errno 11] no more processes"}))
    assert stream.exit_code == NOT_STARTED
    assert "no more processes" in stream.output


def test_a_stream_that_just_ends_is_lost_not_done() -> None:
    """CASE-85."""
    assert read(OUTPUT).exit_code is None


def test_standard_sse_is_read_as_well() -> None:
    stream = read(b"data: " + frame(type="stdout", text="x") + b"data: " + DONE)
    assert (stream.output, stream.exit_code) == ("x", 0)


@given(st.lists(st.integers(0, len(OUTPUT + DONE)), max_size=8))
def test_it_does_not_matter_where_the_bytes_are_cut(cuts: list[int]) -> None:
    whole = OUTPUT + DONE
    edges = [0, *sorted(cuts), len(whole)]
    stream = read(*(whole[a:b] for a, b in pairwise(edges)))
    assert (stream.output, stream.exit_code) == ("one\ntwo\n", 0)


def test_the_end_of_long_output_is_kept() -> None:
    stream = read(*(frame(type="stdout", text=f"{n}\n" * 1000) for n in range(200)))
    assert len(stream.output) <= OUTPUT_LIMIT_CHARS + 10
    assert stream.output.startswith("[...]\n")
    assert stream.output.endswith("199\n")


def test_one_huge_piece_is_cut_to_its_end() -> None:
    stream = read(frame(type="stdout", text="a" * OUTPUT_LIMIT_CHARS + "z"))
    assert stream.output.endswith("z")
    assert len(stream.output) <= OUTPUT_LIMIT_CHARS + 10


def test_an_endless_event_is_refused() -> None:
    with pytest.raises(Malformed, match="more than"):
        read(b"x" * (EVENT_LIMIT_BYTES + 1))


@pytest.mark.parametrize("raw", [b"nonsense\n\n", b"[1]\n\n", b"\xff\n\n"])
def test_what_is_no_event_is_malformed(raw: bytes) -> None:
    with pytest.raises(Malformed):
        read(raw)
