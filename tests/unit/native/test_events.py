import io
import json

from native.events import LONGEST_TEXT, emitter


def test_an_event_is_one_line_whatever_its_text() -> None:
    out = io.BytesIO()
    emitter(out)("text", text="a\nb\u2028c\x85d\ud800")
    assert out.getvalue().count(b"\n") == 1
    assert len(out.getvalue().decode().splitlines()) == 1
    assert json.loads(out.getvalue()) == {"type": "text", "text": "a\nb\u2028c\x85d\ufffd"}


def test_an_event_has_bounded_texts() -> None:
    out = io.BytesIO()
    emitter(out)("tool_call", id="1", name="write", input={"content": "x" * (LONGEST_TEXT * 3)})
    assert len(out.getvalue()) < LONGEST_TEXT * 1.1
