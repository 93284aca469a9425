"""One segment's file, as its one writer has it. It stays open; what it is, is looked at again and again.

What isn't as we left it is not written to: a file that somebody cut, lengthened or exchanged.
"""

import os
import weakref
from contextlib import suppress
from pathlib import Path

from entrance.log.shelf import private


class Segment:
    """The file at `path`. Sizes are told by whoever knows what is ours in it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._handle: int | None = None
        self._torn = False
        self.looked_at = False
        """Whether it was found to be ours, for the lines that get to the disk together."""

    @property
    def handle(self) -> int:
        """The open file, which is made if need be. Raises: OSError."""
        if self._handle is None:
            self._handle = private(str(self.path), os.O_WRONLY | os.O_APPEND | os.O_CREAT)
            weakref.finalize(self, os.close, self._handle)
        return self._handle

    def write(self, raw: bytes, size: int) -> None:
        """Add to the file, which must have `size` bytes. Raises: OSError; then nothing was added."""
        if self._torn:  # half a line would break the chain for good
            os.ftruncate(self.handle, size)
            self._torn = False
        if not self.looked_at:
            self.check(size)
            self.looked_at = True
        try:
            while raw:
                raw = raw[os.write(self.handle, raw) :]
        except OSError:
            self.cut(size)
            raise

    def cut(self, size: int) -> None:
        """Take away what is after `size`; when that can't be done now, before it is next written to."""
        self._torn = True
        with suppress(OSError):
            os.ftruncate(self.handle, size)
            self._torn = False

    def check(self, size: int) -> None:
        """Raises: OSError unless the file is as we left it: our own, with `size` bytes."""
        ours, found = os.fstat(self.handle), os.stat(self.path)  # noqa: PTH116 - fast
        if (found.st_ino, found.st_dev) != (ours.st_ino, ours.st_dev):
            raise OSError("another file is in its place")
        if found.st_size != size:
            raise OSError(f"it has {found.st_size} bytes where we left {size}: somebody changed it")
