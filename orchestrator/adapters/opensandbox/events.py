"""execd's answer to a foreground command: a stream of JSON events, taken apart within bounds [pure].

An event is one JSON object and a blank line, with or without `data: ` before it. The agent decides
what is in it and how much; what is kept of it is bounded here.
"""

import json
from collections import deque
from typing import Any

from entrance.errors import Malformed

EVENT_LIMIT_BYTES = 4 << 20
OUTPUT_LIMIT_CHARS = 256 << 10
NOT_STARTED = 126
"""The exit code of a command that could not be started, as shells have it."""


class Stream:
    """Collects one command's events: feed it bytes, then read what came of the command.

    `output` keeps the last `OUTPUT_LIMIT_CHARS` characters. `exit_code` stays None when the stream
    ended without a word on it: then the command is lost, not done.
    """

    def __init__(self) -> None:
        self.command = ""
        self.exit_code: int | None = None
        self._buffer = b""
        self._kept: deque[str] = deque()
        self._kept_chars = 0
        self._left_out = False

    @property
    def output(self) -> str:
        text = "".join(self._kept)
        return f"[...]\n{text}" if self._left_out else text

    def feed(self, data: bytes) -> None:
        """Raises: Malformed for what is no event, or one beyond all bounds."""
        self._buffer += data
        while b"\n\n" in self._buffer:
            raw, self._buffer = self._buffer.split(b"\n\n", 1)
            if raw.strip():
                self._event(_parse(raw))
        if len(self._buffer) > EVENT_LIMIT_BYTES:
            raise Malformed(f"execd sent an event of more than {EVENT_LIMIT_BYTES} bytes")

    def _event(self, event: dict[str, Any]) -> None:
        match event.get("type"):
            case "init":
                self.command = str(event.get("text", ""))
            case "stdout" | "stderr":
                self._keep(str(event.get("text", "")))
            case "error":
                self._failed(str((event.get("error") or {}).get("evalue", "")))
            case "execution_complete":
                self.exit_code = 0
            case _:
                pass  # pings, and whatever a newer execd may say

    def _failed(self, value: str) -> None:
        try:
            self.exit_code = int(value)
        except ValueError:
            self.exit_code = NOT_STARTED
            self._keep(f"{value}\n")

    def _keep(self, text: str) -> None:
        self._kept.append(text[-OUTPUT_LIMIT_CHARS:])
        self._kept_chars += len(self._kept[-1])
        self._left_out |= len(text) > OUTPUT_LIMIT_CHARS
        while self._kept_chars > OUTPUT_LIMIT_CHARS:
            self._kept_chars -= len(self._kept.popleft())
            self._left_out = True


def _parse(raw: bytes) -> dict[str, Any]:
    text = raw.strip().removeprefix(b"data:")
    try:
        event = json.loads(text)
    except ValueError as error:
        raise Malformed("execd sent an event that is no JSON") from error
    if not isinstance(event, dict):
        raise Malformed("execd sent an event that is no JSON object")
    return event
