"""The events of POST /command, framed as execd does: one JSON object, then an empty line.

Bare JSON, without SSE's `data:`. The SDKs of every version read it, and so does `grep`.
"""

import json
from typing import Any

PING_S = 3.0


def event(kind: str, *, at_ms: int, **fields: Any) -> bytes:
    """Return one frame. ASCII only, so that no reader finds a line end inside it."""
    return json.dumps({"type": kind, **fields, "timestamp": at_ms}).encode() + b"\n\n"


def ended(exit_code: int | None, *, error: str, started_ms: int, finished_ms: int) -> bytes:
    """Return the last frame: `execution_complete` for 0, else `error` whose evalue is the code.

    A command that could not be started has no code: `evalue` is then the reason.
    """
    if exit_code == 0:
        took_ms = max(finished_ms - started_ms, 0)
        return event("execution_complete", at_ms=finished_ms, execution_time=took_ms)
    value = error if exit_code is None else str(exit_code)
    problem = {"ename": "CommandExecError", "evalue": value, "traceback": [error]}
    return event("error", at_ms=finished_ms, error=problem)
