"""Globs over paths of a repository, as gates and policies name them [pure].

`*` and `?` stand for letters of one part, `**` as a part for any number of parts, none too; at the
end, for all that is below. Upper and lower case are one, as on file systems where they are: a gate
is not walked round by spelling it `.GitHub`.
"""

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

_IGNORED = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff]")
"""What HFS+ ignores in a name, and other letters that show nothing."""
_NAMES = 1 << 14
"""So many names are remembered: a push has many paths, and few folders."""


def folded(path: bytes) -> str:
    """A path as file systems may compare it: of one case, and without what they drop from names.

    NTFS drops dots and blanks at a name's end, and what follows a colon names a part of the file.
    """
    return "/".join(map(_folded, path.split(b"/")))


@lru_cache(_NAMES)
def _folded(part: bytes) -> str:
    if part.isascii():
        text = part.decode().lower()
    else:
        text = _IGNORED.sub("", part.decode("utf-8", "surrogateescape"))
        text = unicodedata.normalize("NFC", unicodedata.normalize("NFD", text).casefold())
    return text.split(":")[0].rstrip(". ") or text


class Globs:
    """Several globs as one question."""

    def __init__(self, globs: Iterable[str]) -> None:
        known = tuple(globs)
        self._whole = _any_of(known)
        self._ways = _any_of(way for glob in known for way in _ways(glob))

    def match(self, path: str) -> bool:
        """Whether a path, folded, is one of theirs."""
        return self._whole.fullmatch(path) is not None

    def lead_through(self, path: str) -> bool:
        """Whether a path, folded, is a folder that one of them names on its way."""
        return self._ways.fullmatch(path) is not None


@lru_cache(64)
def globs_of(globs: tuple[str, ...]) -> Globs:
    """The same, made once."""
    return Globs(globs)


def _ways(glob: str) -> Iterable[str]:
    parts = glob.split("/")
    return ("/".join(parts[:end]) for end in range(1, len(parts)) if set(parts[end - 1]) - {"*"})


def _any_of(globs: Iterable[str]) -> re.Pattern[str]:
    return re.compile("|".join(map(_pattern, globs)) or "(?!)", re.DOTALL)


def _pattern(glob: str) -> str:
    *folders, name = folded(glob.encode()).split("/")
    return "".join(map(_folder, folders)) + (".+" if name == "**" else _letters(name))


def _folder(part: str) -> str:
    return "(?:[^/]+/)*" if part == "**" else _letters(part) + "/"


def _letters(part: str) -> str:
    return "".join({"*": "[^/]*", "?": "[^/]"}.get(one) or re.escape(one) for one in part)
