"""Rules about the names of paths [pure]."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import lru_cache

from entrance.git.checks.facts import Brought
from entrance.git.checks.finding import Found
from entrance.git.checks.globs import folded
from entrance.session import Session

_SHOWS_NOTHING = re.compile(
    "[\x00-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]"
)
_JOINERS = re.compile("[\u200c\u200d]")
"""Show nothing either, but are in words of some languages, and in emoji."""
_GIT = re.compile(r"\.git|git~[0-9]+")
_DEVICE = re.compile(r"(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9\u00b9\u00b2\u00b3])")
_NOT_ON_WINDOWS = re.compile(r'[<>:"|?*]')
_LONGEST_PART, _LONGEST = 255, 4096
_NAMES = 1 << 14


def bad_names(brought: Brought, _: Session) -> Iterator[Found]:
    """Paths that are, or look like, something that no repository has a use for."""
    return _named(brought, _bad)


def awkward_names(brought: Brought, _: Session) -> Iterator[Found]:
    """Paths that not every file system can have."""
    for change in brought.changes:
        if change.new_mode and len(change.path) > _LONGEST:
            yield Found(what="a long path", commit=change.commit, path=change.path)
    yield from _named(brought, _awkward)


def one_name_twice(brought: Brought, _: Session) -> Iterator[Found]:
    """Paths of this push that are one where upper and lower case are, and two here."""
    spelled: dict[str, dict[bytes, str]] = defaultdict(dict)
    seen: set[bytes] = set()
    for change in brought.changes:
        way = change.path if change.new_mode else b""
        while way and way not in seen:
            seen.add(way)
            spelled[folded(way)][way] = change.commit
            way = way.rpartition(b"/")[0]
    for ways in spelled.values():
        if len(ways) > 1:
            for way, commit in sorted(ways.items()):
                yield Found(what="another spelling of it", commit=commit, path=way)


@lru_cache(_NAMES)
def names_git(part: bytes) -> bool:
    """Whether some file system takes a name for git's own folder."""
    return _GIT.fullmatch(folded(part)) is not None


def _named(brought: Brought, wrong: Callable[[bytes], str]) -> Iterator[Found]:
    for change in brought.changes:
        if change.new_mode:
            parts = change.path.split(b"/")
            if what := next(filter(None, map(wrong, parts)), ""):
                yield Found(what=what, commit=change.commit, path=change.path)


@lru_cache(_NAMES)
def _bad(part: bytes) -> str:
    if b"\\" in part:
        return "a backslash"
    if _SHOWS_NOTHING.search(part.decode("utf-8", "replace")):
        return "a letter that shows nothing"
    if part in {b"", b".", b".."}:
        return "a part that is no name"
    return "a spelling of .git" if names_git(part) else ""


@lru_cache(_NAMES)
def _awkward(part: bytes) -> str:
    try:
        name = part.decode()
    except UnicodeDecodeError:
        return "bytes that are no UTF-8"
    if len(part) > _LONGEST_PART:
        return "a long name"
    if _JOINERS.search(name):
        return "a joiner, which shows nothing"
    if _DEVICE.fullmatch(name.lower().split(".")[0].rstrip()):
        return "the name of a device on Windows"
    if _NOT_ON_WINDOWS.search(name) or name[-1:] in {".", " "}:
        return "a name that Windows can't have"
    return ""
