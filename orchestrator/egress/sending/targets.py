"""Where records are sent to."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from entrance.errors import Unavailable
from orchestrator.egress.sending.messages import Message


class Target(Protocol):
    """Something that takes records."""

    def begin(self, mark: str) -> str:
        """Get ready, and undo what was begun after `mark`, the last one that was kept (empty: none was).

        Returns the mark of how it is now. Raises: Unavailable.
        """
        ...

    def send(self, batch: Sequence[Message], name: str) -> str:
        """Hand a batch over; once it returns, the batch is there. The same batch has the same `name`.

        Returns a mark of the target's own, to be kept. Raises: Unavailable, and then the batch may be
        there in part; Forbidden, Malformed when it makes no sense to try again.
        """
        ...

    def close(self) -> None:
        """Let go of it. Idempotent."""
        ...


class FileTarget:
    """Lines at the end of a file. Its mark says which file it was, and how long.

    What a crash left after the mark is cut off before anything is added; a file that somebody put in
    its place (a rotation of logs, say) is just added to.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def begin(self, mark: str) -> str:
        inode, _, size = mark.partition(":")
        try:
            with open(self._path, "ab", opener=_private) as file:
                now = os.fstat(file.fileno())
                if size.isdecimal() and str(now.st_ino) == inode and now.st_size > int(size):
                    file.truncate(int(size))
                return _mark(file.fileno())
        except OSError as error:
            raise self._unavailable(error) from error

    def send(self, batch: Sequence[Message], name: str) -> str:  # noqa: ARG002 - the mark is enough
        try:
            with open(self._path, "ab", opener=_private) as file:
                file.writelines(one.body + b"\n" for one in batch)
                file.flush()
                os.fdatasync(file.fileno())
                return _mark(file.fileno())
        except OSError as error:
            raise self._unavailable(error) from error

    def close(self) -> None:
        """Nothing is held."""

    def _unavailable(self, error: OSError) -> Unavailable:
        return Unavailable(f"{self._path} can't be written: {error.strerror}")


def _mark(file: int) -> str:
    now = os.fstat(file)
    return f"{now.st_ino}:{now.st_size}"


def _private(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_CLOEXEC, 0o600)
