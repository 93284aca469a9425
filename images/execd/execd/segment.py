"""A piece of a log: an anonymous file that only execd holds, so that nobody else can rewrite it."""

import os
from pathlib import Path

SCAN_BYTES = 64 * 1024


class Segment:
    """Bytes appended; lines counted. Begins at the start of line `first_line`.

    The file lives as long as somebody refers to the segment: a reader may outlast the log.
    """

    def __init__(self, folder: Path | None, first_line: int) -> None:
        self.fd = -1
        self.fd, self.in_memory = _anonymous(folder)
        self.first_line = first_line
        self.lines = 0
        self.size = 0
        self.complete = 0  # bytes up to the end of the last whole line

    def __del__(self) -> None:
        if self.fd >= 0:
            os.close(self.fd)

    @property
    def end_line(self) -> int:
        """The number of the line after the last whole one."""
        return self.first_line + self.lines

    def append(self, data: bytes) -> None:
        """Add `data`. Raises: OSError when it could not all be written; nothing counts then."""
        view, at = memoryview(data), self.size
        while view:
            written = os.pwrite(self.fd, view, at)
            view, at = view[written:], at + written
        end = data.rfind(b"\n") + 1
        if end:
            self.complete = self.size + end
            self.lines += data.count(b"\n")
        self.size += len(data)

    def seal(self) -> None:
        """Count what is left without a line end as a line."""
        if self.size > self.complete:
            self.complete = self.size
            self.lines += 1

    def take_open_line(self) -> bytes:
        """Take the bytes of the line that has not ended out of this segment."""
        data = os.pread(self.fd, self.size - self.complete, self.complete)
        self.size = self.complete
        return data

    def offset_of(self, line: int) -> int:
        """Return where the line numbered `line` begins, by counting from the start."""
        skip, at = line - self.first_line, 0
        while skip > 0:
            block = os.pread(self.fd, min(SCAN_BYTES, self.complete - at), at)
            count = block.count(b"\n")
            if not block or count >= skip:
                return at + _after_newline(block, skip)
            skip, at = skip - count, at + len(block)
        return at

    def cut(self, start: int, budget: int) -> tuple[int, int]:
        """Return (end, lines) of the lines from `start` that fit `budget` bytes; at least one line.

        For when there is more than that.
        """
        stop, at, end, lines = start + budget, start, self.complete, 0
        while at < self.complete and (at < stop or not lines):
            within = at < stop
            room = min(stop - at if within else SCAN_BYTES, self.complete - at, SCAN_BYTES)
            block = os.pread(self.fd, room, at)
            found = (block.rfind(b"\n") if within else block.find(b"\n")) + 1
            if found:
                lines, end = lines + block.count(b"\n", 0, found), at + found
            at += len(block)
        return end, max(lines, 1)


def _after_newline(block: bytes, count: int) -> int:
    at = 0
    for _ in range(count):
        at = block.index(b"\n", at) + 1
    return at


def _anonymous(folder: Path | None) -> tuple[int, bool]:
    """Open a file without a name, in `folder` when it has such files, else in memory."""
    if folder is not None:
        try:
            flags = os.O_TMPFILE | os.O_RDWR | os.O_CLOEXEC | os.O_EXCL
            return os.open(folder, flags, 0o600), False
        except OSError:
            pass
    return os.memfd_create("execd-log", os.MFD_CLOEXEC), True
