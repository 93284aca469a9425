"""What the loop says on stdout: one JSON object a line, flushed at once.

started    model, tools, conversation, unreachable
text       text
reasoning  text
tool_call  id, name, input
tool_result  id, name, is_error, text, duration_ms
usage      input_tokens, output_tokens, cache_read_tokens, cache_write_tokens
retry      reason, delay_s
ended      reason, detail
"""

import json
import threading
from collections.abc import Callable
from typing import Any, BinaryIO

from native.text import clean, shortened

Emit = Callable[..., None]
"""`emit("text", text="hello")`"""

LONGEST_TEXT = 40_000
GOOD_ENDS = frozenset({"submitted", "asked", "delegated", "held", "completed"})
"""Reasons of `ended` after which the exit code is 0."""


def emitter(stream: BinaryIO) -> Emit:
    """Make the function that writes events. Only ASCII is written: no byte of a text ends a line early."""
    lock = threading.Lock()

    def emit(kind: str, **facts: Any) -> None:
        line = json.dumps({"type": kind, **shortened(clean(facts), LONGEST_TEXT)})
        with lock:
            stream.write(line.encode("ascii") + b"\n")
            stream.flush()

    return emit
