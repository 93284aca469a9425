"""Folders and what is below them: listing, searching, removing. Blocking: call it in a thread."""

import errno
import os
import stat
from collections.abc import Iterator
from typing import Any

from execd.errors import Refused, invalid
from execd.files import info
from execd.patterns import by_name, glob

MAX_ENTRIES = 20_000


def listing(path: str, depth: int) -> list[dict[str, Any]]:
    """Describe what is below `path`, down to `depth` levels, by name; links are not followed.

    Raises: Refused 400 for no folder, a link, or more than 20 000 entries; OSError.
    """
    if depth < 1:
        raise invalid("depth must be at least 1")
    if stat.S_ISLNK(os.lstat(path).st_mode):
        raise invalid(f"{path} is a link; give the folder's own path")
    return _described(_below(path, depth))


def search(path: str, pattern: str) -> list[dict[str, Any]]:
    """Describe the files below `path` that a glob matches; links are not followed.

    Raises: Refused 400 for a bad glob or more than 20 000 matches; OSError.
    """
    expression, named = glob(pattern), by_name(pattern)

    def matches(entry: os.DirEntry[str]) -> bool:
        if entry.is_dir(follow_symlinks=False):
            return False
        text = entry.name if named else os.path.relpath(entry.path, path)
        return expression.fullmatch(text) is not None

    return _described(entry for entry in _below(path, None) if matches(entry))


def remove_folder(path: str) -> None:
    """Remove a folder and all below it; nothing when it is not there.

    Raises: Refused 400 for what is no folder, OSError.
    """
    try:
        found = os.lstat(path)
    except FileNotFoundError:
        return
    if not stat.S_ISDIR(found.st_mode):
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), path)
    import shutil  # noqa: PLC0415  # 10 ms that only this needs

    shutil.rmtree(path)


def _below(path: str, depth: int | None) -> Iterator[os.DirEntry[str]]:
    """Walk in order of names, each folder followed by what is in it.

    An unreadable folder below is left out; the folder asked for must be readable.
    """
    waiting = [iter(_entries(path))]
    while waiting:
        entry = next(waiting[-1], None)
        if entry is None:
            waiting.pop()
            continue
        yield entry
        if (depth is None or len(waiting) < depth) and entry.is_dir(follow_symlinks=False):
            try:
                waiting.append(iter(_entries(entry.path)))
            except OSError:
                continue


def _entries(path: str) -> list[os.DirEntry[str]]:
    with os.scandir(path) as entries:
        return sorted(entries, key=lambda entry: entry.name)


def _described(entries: Iterator[os.DirEntry[str]]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for entry in entries:
        if len(found) >= MAX_ENTRIES:
            raise Refused(400, "TOO_MANY_ENTRIES", f"more than {MAX_ENTRIES}; ask for less")
        try:
            found.append(info(entry.path))
        except OSError:
            continue  # gone meanwhile
    return found
