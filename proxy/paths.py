"""Paths of URLs, in every reading that a server may have of them, and globs over them [pure].

Servers disagree about `%2f`, `%5c`, doubled slashes and what is encoded twice. So a path isn't
turned into one form that some of them don't share: a rule that allows must cover all readings, one
that denies is met by any.
"""

import re
from functools import lru_cache
from urllib.parse import unquote_to_bytes

MAX_DECODINGS = 4
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_SLASHES = re.compile(r"/{2,}")
_PARAMETER = re.compile(r";[^/]*")
_KEPT = re.compile(r"%(?=2[fF5]|5[cC])")
_PARTS = re.compile(r"/\*\*/|\*\*|\*|[^*/]+|/")


@lru_cache(maxsize=4096)
def readings(path: str) -> frozenset[str]:
    """What servers may take `path` for (without its query). It begins with a slash.

    A path with `.` or `..` as a segment in any reading, with control characters, or encoded more
    than a few times over is refused: no client that follows the URL standards sends one.
    Raises: ValueError, in a sentence.
    """
    if not path.startswith("/"):
        raise ValueError("a path begins with a slash")
    # Encoded slashes, backslashes and percent signs stay, as in a server that splits first.
    split_first = _decoded(_KEPT.sub("%25", path))
    decoded = path
    for _ in range(MAX_DECODINGS):
        decoded, before = _decoded(decoded), decoded
        if decoded == before:
            break
    else:
        raise ValueError("the path is encoded too many times over")
    slashed = decoded.replace("\\", "/")
    # A parameter (`..;x`) is cut off by some servers before they look at the segment.
    plain = _PARAMETER.sub("", slashed)
    if any(segment in {".", ".."} for segment in plain.split("/")):
        raise ValueError("the path has dot segments; send it resolved")
    if _CONTROL.search(decoded):
        raise ValueError("the path has control characters")
    return frozenset({split_first, slashed, plain, _SLASHES.sub("/", slashed)})


@lru_cache(maxsize=4096)
def glob(pattern: str) -> re.Pattern[str]:
    """`*` is anything within a segment, `**` anything at all, `/**/` also one slash; the rest is itself.

    Raises: ValueError when it doesn't begin with a slash.
    """
    if not pattern.startswith("/"):
        raise ValueError(f"the path {pattern!a} must begin with a slash")
    meaning = {"/**/": "/(?:.*/)?", "**": ".*", "*": "[^/]*"}
    parts = (meaning.get(part) or re.escape(part) for part in _PARTS.findall(pattern))
    return re.compile("".join(parts), re.DOTALL)


def covers_all(patterns: tuple[str, ...], paths: frozenset[str]) -> bool:
    """Say whether each of the readings is covered by one of the patterns."""
    return all(any(glob(pattern).fullmatch(path) for pattern in patterns) for path in paths)


def covers_any(patterns: tuple[str, ...], paths: frozenset[str]) -> bool:
    """Say whether one of the readings is covered by one of the patterns."""
    return any(glob(pattern).fullmatch(path) for pattern in patterns for path in paths)


def _decoded(text: str) -> str:
    return unquote_to_bytes(text).decode(errors="surrogateescape")
