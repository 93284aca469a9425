"""Events are framed as the SDK reads them: one JSON object, an empty line."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from execd.events import ended, event


@given(st.text())
def test_a_frame_has_no_line_end_but_its_own(text: str) -> None:
    frame = event("stdout", text=text, at_ms=5)
    assert frame.endswith(b"\n\n")
    assert b"\n" not in frame[:-2]
    assert json.loads(frame) == {"type": "stdout", "text": text, "timestamp": 5}
    assert frame.isascii()


@pytest.mark.parametrize(
    ("code", "kind", "value"),
    [
        (0, "execution_complete", None),
        (3, "error", "3"),
        (137, "error", "137"),
        (None, "error", "E"),
    ],
)
def test_the_last_event_tells_the_exit_code(code: int | None, kind: str, value: str | None) -> None:
    last = json.loads(ended(code, error="E", started_ms=10, finished_ms=35))
    assert last["type"] == kind
    assert last.get("error", {}).get("evalue") == value
    if code == 0:
        assert last["execution_time"] == 25
