"""Server-sent events out of chunks that are split anywhere [pure]."""

import re
from collections.abc import Iterator

_ENDS = (b"\n\n", b"\r\n\r\n", b"\r\r")
_END = re.compile(rb"\n\n|\r\n\r\n|\r\r")
EVENT_BYTES = 16 << 20
"""A longer event is passed through unread: memory is bounded, and its usage is estimated."""


class Events:
    """`feed` gives back the whole events that are there now; `rest` what is left at the end."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, chunk: bytes) -> bytes:
        """Take a chunk; return all whole events, byte for byte."""
        if not self._buffer and chunk.endswith(_ENDS):
            return chunk  # as most chunks come
        self._buffer += chunk
        end = max(_end_of(self._buffer, mark) for mark in _ENDS)
        if not end and len(self._buffer) > EVENT_BYTES:
            end = len(self._buffer)
        whole = bytes(self._buffer[:end])
        del self._buffer[:end]
        return whole

    def rest(self) -> bytes:
        """What is left: a last event without its end, or nothing."""
        left = bytes(self._buffer)
        self._buffer.clear()
        return left


def each(events: bytes) -> Iterator[bytes]:
    """One event at a time, each with its end; what has no end comes last."""
    start = 0
    for found in _END.finditer(events):
        yield events[start : found.end()]
        start = found.end()
    if start < len(events):
        yield events[start:]


def data_of(events: bytes) -> list[bytes]:
    """The data of each line that has any. (Providers send one line of JSON an event.)"""
    return [line[5:].strip() for line in events.splitlines() if line.startswith(b"data:")]


def _end_of(buffer: bytearray, mark: bytes) -> int:
    at = buffer.rfind(mark)
    return at + len(mark) if at >= 0 else 0
