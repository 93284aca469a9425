import json

import pytest
from native import sse

STREAM = (
    b'event: a\ndata: {"n": 1}\n\n: a comment\n\ndata: {"n":\r\ndata: 2}\r\n\r\n'
    b'data: {"n": "\xe2\x80\xa8\xc2\x85"}\n\ndata: [DONE]\n\ndata: {"n": 4}'
)
EVENTS = [{"n": 1}, {"n": 2}, {"n": "\u2028\x85"}, {"n": 4}]


@pytest.mark.parametrize("step", [1, 2, 7, len(STREAM)])
def test_events_are_read_however_they_are_split(step: int) -> None:
    chunks = [STREAM[at : at + step] for at in range(0, len(STREAM), step)]
    assert list(sse.events(chunks)) == EVENTS


@pytest.mark.parametrize("data", [b'{"not": ', b"[1]", b"\xff"])
def test_what_is_no_json_object_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - JSON, UTF-8 or ours: each is one
        list(sse.events([b"data: " + data + b"\n\n"]))


def test_a_stream_without_end_is_refused() -> None:
    endless = json.dumps({"a": "x" * (1 << 20)}).encode()
    with pytest.raises(ValueError, match="larger than 64 MB"):
        list(sse.events(b"data: " + endless + b"\n\n" for _ in range(100)))
