"""A conversation in a file, a line a message, so that a later run of the task can go on with it.

A line is written in one piece: whenever the loop dies, all lines are whole but maybe the last one,
which is then left out. A disk that is full ends no run; the file is made good when there is room.
"""

import contextlib
import json
import re
import uuid
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from native.conversation import Message, as_json, from_json, repaired
from native.output import Spill

_FORMAT = 1
_ASIDE_FILES = 300
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,63}")


class NotKept(Exception):
    """There is no such conversation here. The message says why."""


class Kept:
    """The messages so far, and the file that has them."""

    def __init__(self, folder: Path, name: str, messages: Iterable[Message] = ()) -> None:
        self.id = name
        self._path = folder / f"{name}.jsonl"
        self._messages = list(messages)
        self._is_whole = False

    @property
    def messages(self) -> Sequence[Message]:
        """All of them, oldest first."""
        return self._messages

    def aside(self) -> Spill:
        """Files of the same life as the conversation, for what was taken out of it."""
        return Spill(self._path.with_suffix(""), most=_ASIDE_FILES)

    def add(self, message: Message) -> None:
        """Put a message at the end."""
        self._messages.append(message)
        if self._is_whole:
            self._is_whole = False
            with contextlib.suppress(OSError):
                _append(self._path, _line(as_json(message)))
                self._is_whole = True
        else:
            self._write()

    def become(self, messages: Iterable[Message]) -> None:
        """Put these in the place of all."""
        self._messages = list(messages)
        self._write()

    def _write(self) -> None:
        """Write the file anew; whoever reads it sees the old one or the new one."""
        new = self._path.with_suffix(".new")
        head = {"conversation": self.id, "format": _FORMAT}
        self._is_whole = False
        with contextlib.suppress(OSError):
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            lines = (_line(value) for value in (head, *map(as_json, self._messages)))
            new.write_bytes(b"".join(lines))
            new.replace(self._path)
            self._is_whole = True


def begun(folder: Path) -> Kept:
    """A new conversation; its file is made with its first message."""
    return Kept(folder, str(uuid.uuid4()))


def resumed(folder: Path, name: str) -> Kept:
    """The conversation with this id, fit to be gone on with.

    Raises:
        NotKept: there is none, or it can't be read.
    """
    if not _ID.fullmatch(name):
        raise NotKept(f"{name[:80]!r} is not the id of a conversation")
    try:
        lines = (folder / f"{name}.jsonl").read_bytes().split(b"\n")[:-1]
        head = json.loads(lines[0])
        if head["format"] != _FORMAT:
            raise NotKept(f"the conversation {name} is of format {head['format']}, not {_FORMAT}")
    except OSError as error:
        raise NotKept(f"there is no conversation {name}: {error.strerror}") from error
    except (IndexError, KeyError, TypeError, ValueError) as error:
        raise NotKept(f"the conversation {name} can't be read: {error!r}") from error
    return Kept(folder, name, repaired(list(_messages(lines[1:]))))


def _messages(lines: Iterable[bytes]) -> Iterator[Message]:
    """Those up to the first line that is none."""
    for line in lines:
        try:
            yield from_json(json.loads(line))
        except ValueError:
            return


def _line(value: Any) -> bytes:
    return json.dumps(value).encode("ascii") + b"\n"


def _append(path: Path, line: bytes) -> None:
    """Write a whole line or nothing."""
    with path.open("ab", buffering=0) as file:
        end = file.tell()
        try:
            while line:
                line = line[file.write(line) :]
        except OSError:
            file.truncate(end)
            raise
