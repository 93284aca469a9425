"""Reads what `git diff-tree --stdin -c -r --raw -z` prints: the paths that each commit changes [pure].

A commit is told by its id, then come its paths, each a line of modes and ids and a name. Of a merge,
whose lines begin with as many colons as it has parents, only what differs from all of them is there.
"""

import re
from collections.abc import Iterator

from entrance.git.checks.facts import Change

_OID = re.compile(rb"[0-9a-f]{40}|[0-9a-f]{64}")


class DiffBrokenError(ValueError):
    """This is not what git prints."""


class RawDiffReader:
    """Fed git's output in any pieces; holds one record. `of`: the commit, where git names none."""

    def __init__(self, of: str = "") -> None:
        self._rest = b""
        self._commit = of
        self._line: bytes = b""

    def feed(self, data: bytes) -> Iterator[Change]:
        """The changes that are whole by now. Raises: DiffBrokenError."""
        *records, self._rest = (self._rest + data).split(b"\0")
        for record in records:
            if self._line:
                yield _change(self._commit, self._line, record)
                self._line = b""
            elif record.startswith(b":"):
                self._line = record
            elif _OID.fullmatch(record):
                self._commit = record.decode()
            else:
                raise DiffBrokenError("git's list of changed paths can't be read")

    def end(self) -> None:
        """There is no more. Raises: DiffBrokenError when it broke off."""
        if self._rest or self._line:
            raise DiffBrokenError("git's list of changed paths breaks off")


def _change(commit: str, line: bytes, path: bytes) -> Change:
    """A merge's first parent stands for what was there before."""
    parents = len(line) - len(line.lstrip(b":"))
    fields = line[parents:].split(b" ")
    if not commit or len(fields) != 2 * parents + 3:
        raise DiffBrokenError("git's list of changed paths can't be read")
    try:
        old_mode, new_mode = int(fields[0], 8), int(fields[parents], 8)
    except ValueError as error:
        raise DiffBrokenError("git's list of changed paths can't be read") from error
    old, new = fields[parents + 1].decode(), fields[2 * parents + 1].decode()
    return Change(commit, path, old_mode, new_mode, old, new)
