"""The tools read, write and edit. Paths are relative to the working directory or absolute."""

import contextlib
import itertools
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from native.output import LONGEST_CHARS, Outcome, ToolError
from native.schema import parameters
from native.text import readable

DEFAULT_LINES = 2000
LONGEST_LINE = 2000
LARGEST_EDIT_BYTES = 20 << 20
_LOOKED_AT_BYTES = 8192
_PIECE_BYTES = 1 << 16

READ = (
    "Read a text file. Lines are numbered from 1; give offset and limit for a part of a long file."
)
READ_SCHEMA = parameters(
    ("path",),
    path={"type": "string"},
    offset={"type": "integer", "minimum": 1, "description": "first line, default 1"},
    limit={
        "type": "integer",
        "minimum": 1,
        "description": f"number of lines, default {DEFAULT_LINES}",
    },
)
WRITE = (
    "Make a file or replace all of its content. Missing folders are made. Prefer edit for changes."
)
WRITE_SCHEMA = parameters(("path", "content"), path={"type": "string"}, content={"type": "string"})
EDIT = (
    "Replace text in a file. `old` must stand there exactly once, with the same white space: give enough"
    " lines around it. Line numbers of read are not part of the file."
)
EDIT_SCHEMA = parameters(
    ("path", "old", "new"), path={"type": "string"}, old={"type": "string"}, new={"type": "string"}
)


class Files:
    """Reads and writes for one working directory."""

    def __init__(self, workdir: Path) -> None:
        self._workdir = workdir

    def read(self, given: dict[str, Any]) -> Outcome:
        """The tool. At most `LONGEST_CHARS` are shown; the rest is a call with another offset."""
        path = self._path(given)
        first = given.get("offset", 1)
        with _told(path), _opened(path) as file:
            _refuse_binary(file, path)
            lines = itertools.islice(
                _lines(file), first - 1, first - 1 + given.get("limit", DEFAULT_LINES)
            )
            shown, following = _numbered(lines, first)
            more = bool(file.read(1)) or following is not None
        if not shown:
            what = f"it has fewer than {first} lines" if first > 1 else "it is empty"
            return Outcome(f"({path}: {what})")
        last = first + len(shown) - 1
        note = f"\n[more lines follow: go on with offset {last + 1}]" if more else ""
        return Outcome("\n".join(shown) + note)

    def write(self, given: dict[str, Any]) -> Outcome:
        """The tool."""
        path = self._path(given)
        data = given["content"].encode("utf-8", "surrogateescape")
        with _told(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            _refuse_special(path)
            path.write_bytes(data)
        return Outcome(f"Wrote {len(data)} bytes to {path}.")

    def edit(self, given: dict[str, Any]) -> Outcome:
        """The tool. Bytes outside of the replaced text stay as they are."""
        path, old, new = self._path(given), given["old"], given["new"]
        if not old:
            raise ToolError("`old` is empty: use write for a new file")
        if old == new:
            raise ToolError("`old` and `new` are the same")
        with _told(path), _opened(path) as file:
            content = file.read(LARGEST_EDIT_BYTES + 1)
        if len(content) > LARGEST_EDIT_BYTES:
            raise ToolError(
                f"{path} is larger than {LARGEST_EDIT_BYTES >> 20} MB: use bash (sed, patch)"
            )
        before, after = _in_line_ends_of(content, old), _in_line_ends_of(content, new)
        at = _only_place(content, before, path)
        with _told(path):
            path.write_bytes(content[:at] + after + content[at + len(before) :])
        line = content.count(b"\n", 0, at) + 1
        return Outcome(f"Replaced 1 place in {path}, line {line}.")

    def _path(self, given: dict[str, Any]) -> Path:
        if not given["path"] or "\0" in given["path"]:
            raise ToolError("the path is empty or holds a NUL")
        return self._workdir / Path(given["path"]).expanduser()


@contextlib.contextmanager
def _told(path: Path) -> Iterator[None]:
    """Errors of the system as sentences."""
    try:
        yield
    except (OSError, UnicodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise ToolError(f"{path}: {reason}") from error


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    _refuse_special(path)
    with path.open("rb") as file:
        yield file


def _refuse_special(path: Path) -> None:
    """A pipe or a device would block or never end."""
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return
    if stat.S_ISDIR(mode):
        raise ToolError(f"{path} is a folder: use glob or bash (ls)")
    if not stat.S_ISREG(mode):
        raise ToolError(f"{path} is not a regular file")


def _refuse_binary(file: BinaryIO, path: Path) -> None:
    if b"\0" in file.read(_LOOKED_AT_BYTES):
        size = os.fstat(file.fileno()).st_size
        raise ToolError(f"{path} is not text ({size} bytes): use bash (file, xxd, strings)")
    file.seek(0)


def _lines(file: BinaryIO) -> Iterator[str]:
    """Lines without their end, long ones cut; memory stays bounded whatever the file is."""
    while line := file.readline(_PIECE_BYTES):
        whole = line.endswith(b"\n") or len(line) < _PIECE_BYTES
        while not whole:
            piece = file.readline(_PIECE_BYTES)
            whole = piece.endswith(b"\n") or len(piece) < _PIECE_BYTES
        text = readable(line.rstrip(b"\r\n")).replace("\n", " ")
        yield text if len(text) <= LONGEST_LINE else f"{text[:LONGEST_LINE]} [... line cut]"


def _numbered(lines: Iterator[str], first: int) -> tuple[list[str], str | None]:
    """As many numbered lines as may be shown, and the one that had no room."""
    shown: list[str] = []
    size = 0
    for number, line in enumerate(lines, first):
        size += len(line) + 8
        if size > LONGEST_CHARS and shown:
            return shown, line
        shown.append(f"{number:6d}\t{line}")
    return shown, None


def _in_line_ends_of(content: bytes, text: str) -> bytes:
    """The text as bytes, with CRLF if that is what the file has."""
    if b"\r\n" in content and "\r\n" not in text:
        text = text.replace("\n", "\r\n")
    return text.encode("utf-8", "surrogateescape")


def _only_place(content: bytes, wanted: bytes, path: Path) -> int:
    at = content.find(wanted)
    if at < 0:
        raise ToolError(f"`old` does not stand in {path}: read the file again and copy it exactly")
    if content.find(wanted, at + 1) >= 0:
        places = []
        while at >= 0:
            places.append(content.count(b"\n", 0, at) + 1)
            at = content.find(wanted, at + 1)
        lines = ", ".join(map(str, places[:10]))
        raise ToolError(
            f"`old` stands {len(places)} times in {path} (lines {lines}): give more lines around it"
        )
    return at
