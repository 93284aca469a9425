"""A background command's output on disk, bounded, read by line number.

Policy. Lines are numbered from 0 and keep their numbers. The head (the first segment) and the
newest segments are kept; what is between them goes when the log is over its cap, and a reader that
asks for it gets one marker line in its place. Who follows the log loses nothing, however long it
gets; who comes late gets its head, a marker, its tail. A line longer than `line_bytes` is broken.

The segments are files without a name (see `segment`): no process but execd can open them. When the
disk is full, which the agent can bring about, the log goes on in memory under a smaller cap.
"""

import os
from dataclasses import dataclass
from pathlib import Path

from execd.segment import Segment


@dataclass(frozen=True, slots=True)
class LogLimits:
    """How much one log keeps. The caps can be passed by one segment and one line."""

    total_bytes: int = 64 << 20
    memory_bytes: int = 8 << 20
    segment_bytes: int = 4 << 20
    line_bytes: int = 8 << 20


@dataclass(frozen=True, slots=True)
class Piece:
    """Bytes `start` to `end` of a segment; or, without one, the bytes of `text`."""

    segment: Segment | None
    start: int = 0
    end: int = 0
    text: bytes = b""

    def __len__(self) -> int:
        return len(self.text) or self.end - self.start


@dataclass(frozen=True, slots=True)
class Page:
    """Whole lines, and the number of the last one: the cursor to ask with next time."""

    pieces: tuple[Piece, ...]
    cursor: int


class CommandLog:
    """The log of one command."""

    def __init__(self, folder: Path | None, limits: LogLimits) -> None:
        self._folder = folder
        self._limits = limits
        self._segments: list[Segment] = []
        self._open_bytes = 0  # of the line that has not ended
        self._lost_bytes = 0
        self._mark: tuple[int, Segment, int] | None = None  # where the last page ended

    @property
    def size(self) -> int:
        """The bytes kept."""
        return sum(segment.size for segment in self._segments)

    def append(self, data: bytes) -> None:
        """Add output. Never fails: what finds no room anywhere is counted as lost."""
        try:
            self._append(data)
            self._evict()
        except OSError:
            self._lost_bytes += len(data)

    def seal(self) -> None:
        """End the log: a last line without a line end counts from now on."""
        if self._lost_bytes:
            self.append(b"\n[execd: %d bytes found no room]\n" % self._lost_bytes)
        if self._segments:
            self._segments[-1].seal()

    def page(self, cursor: int, limit: int | None = None) -> Page:
        """Return the whole lines after line `cursor` (-1: all), about `limit` bytes of them."""
        wanted, pieces, budget = max(cursor + 1, 0), list[Piece](), limit
        for segment in self._segments:
            if wanted >= segment.end_line:
                continue
            if wanted < segment.first_line:
                pieces.append(self._marker(segment.first_line - wanted))
                wanted = segment.first_line
            start = self._offset(segment, wanted)
            end, lines = segment.complete, segment.end_line - wanted
            if budget is not None:
                if end - start > budget:
                    end, lines = segment.cut(start, max(budget, 1))
                budget -= end - start
            pieces.append(Piece(segment, start, end))
            wanted += lines
            self._mark = (wanted, segment, end)
            if budget is not None and (budget <= 0 or wanted < segment.end_line):
                break
        return Page(tuple(pieces), max(wanted - 1, cursor))

    def close(self) -> None:
        """Drop what is kept."""
        self._segments.clear()
        self._mark = None

    def _append(self, data: bytes) -> None:
        if not self._segments or (not self._open_bytes and self._is_long()):
            self._rotate()
        first_end = data.find(b"\n") + 1
        if first_end and self._is_long():
            self._write(data[:first_end])
            data = data[first_end:]
            self._rotate()
        self._write(data)
        last_end = data.rfind(b"\n") + 1
        self._open_bytes = len(data) - last_end + (0 if last_end or first_end else self._open_bytes)
        if self._open_bytes > self._limits.line_bytes:
            self._write(b"\n")
            self._open_bytes = 0

    def _offset(self, segment: Segment, line: int) -> int:
        if self._mark is not None and self._mark[:2] == (line, segment):
            return self._mark[2]
        return segment.offset_of(line)

    def _marker(self, lines: int) -> Piece:
        text = f"[execd: {lines} lines dropped, the log is over {self._limits.total_bytes} bytes]\n"
        return Piece(None, text=text.encode())

    def _write(self, data: bytes) -> None:
        try:
            self._segments[-1].append(data)
        except OSError:
            self._go_on_in_memory(data)

    def _go_on_in_memory(self, data: bytes) -> None:
        self._folder = None
        open_line = self._segments[-1].take_open_line()
        self._rotate()
        self._segments[-1].append(open_line + data)

    def _is_long(self) -> bool:
        return self._segments[-1].size >= self._limits.segment_bytes

    def _rotate(self) -> None:
        first_line = self._segments[-1].end_line if self._segments else 0
        self._segments.append(Segment(self._folder, first_line))

    def _evict(self) -> None:
        """Drop the oldest segments between the first and the last while over a cap."""
        kept = self._segments
        while len(kept) > 2 and self.size > self._limits.total_bytes:  # noqa: PLR2004  # as said
            kept.pop(1)
        in_memory = [segment for segment in kept[:-1] if segment.in_memory]
        while in_memory and sum(s.size for s in kept if s.in_memory) > self._limits.memory_bytes:
            kept.remove(in_memory.pop(0))


def read(piece: Piece, at: int, size: int) -> bytes:
    """Return up to `size` bytes of `piece` from its byte `at` on."""
    if piece.segment is None:
        return piece.text[at : at + size]
    return os.pread(piece.segment.fd, min(size, len(piece) - at), piece.start + at)
