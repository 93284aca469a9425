"""Rules about the names of paths [pure]."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator

from entrance.git.checks.facts import Brought
from entrance.git.checks.finding import Found
from entrance.git.checks.globs import folded
from entrance.session import Session

_SHOWS_NOTHING = re.compile(
    "[\x00-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]"
)
_GIT = re.compile(r"\.git|git~[0-9]+")
_DEVICE = re.compile(r"(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9\u00b9\u00b2\u00b3])")
_NOT_ON_WINDOWS = re.compile(r'[<>:"|?*]')
_LONGEST_PART, _LONGEST = 255, 4096


def bad_names(brought: Brought, _: Session) -> Iterator[Found]:
    """Paths that are, or look like, something that no repository has a use for."""
    return _named(brought, _bad)


def awkward_names(brought: Brought, _: Session) -> Iterator[Found]:
    """Paths that not every file system can have."""
    return _named(brought, _awkward)


def one_name_twice(brought: Brought, _: Session) -> Iterator[Found]:
    """Paths of this push that are one where upper and lower case are, and two here."""
    spelled: dict[str, dict[bytes, str]] = defaultdict(dict)
    for change in brought.changes:
        if change.new_mode:
            parts = change.path.split(b"/")
            for end in range(1, len(parts) + 1):
                way = b"/".join(parts[:end])
                spelled[folded(way)].setdefault(way, change.commit)
    for ways in spelled.values():
        if len(ways) > 1:
            for way, commit in sorted(ways.items()):
                yield Found(what="another spelling of it", commit=commit, path=way)


def names_git(part: bytes) -> bool:
    """Whether some file system takes a name for git's own folder."""
    return _GIT.fullmatch(folded(part)) is not None


def _named(brought: Brought, wrong: Callable[[bytes], str]) -> Iterator[Found]:
    for change in brought.changes:
        if change.new_mode and (what := wrong(change.path)):
            yield Found(what=what, commit=change.commit, path=change.path)


def _bad(path: bytes) -> str:
    parts = path.split(b"/")
    if b"\\" in path:
        return "a backslash"
    if _SHOWS_NOTHING.search(path.decode("utf-8", "replace")):
        return "a letter that shows nothing"
    if not {b"", b".", b".."}.isdisjoint(parts):
        return "a part that is no name"
    if any(map(names_git, parts)):
        return "a spelling of .git"
    return ""


def _awkward(path: bytes) -> str:
    try:
        parts = path.decode().split("/")
    except UnicodeDecodeError:
        return "bytes that are no UTF-8"
    if len(path) > _LONGEST or any(len(part.encode()) > _LONGEST_PART for part in parts):
        return "a long name"
    if any(_DEVICE.fullmatch(part.lower().split(".")[0].rstrip()) for part in parts):
        return "the name of a device on Windows"
    if _NOT_ON_WINDOWS.search(path.decode()) or any(part[-1:] in {".", " "} for part in parts):
        return "a name that Windows can't have"
    return ""
