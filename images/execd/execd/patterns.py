"""Small languages of the contract: globs, byte ranges, file modes."""

import re
from dataclasses import dataclass

from execd.errors import Refused, invalid

_SET = re.compile(r"\[([!^]?+)(\][^\]]*|[^\]]+)\]")
_RANGE = re.compile(r"bytes=([0-9]{0,18})-([0-9]{0,18})")


@dataclass(frozen=True, slots=True)
class Span:
    """The bytes from `start` up to, not including, `end`."""

    start: int
    end: int


def byte_range(header: str, size: int) -> Span | None:
    """Return the part of a file of `size` bytes that a Range header asks for; None for all of it.

    Several ranges, or another unit, mean all (RFC 9110 allows to ignore them).
    Raises: Refused 416 when nothing of the file is in the range.
    """
    match = _RANGE.fullmatch(header.strip())
    if match is None or match[0] == "bytes=-":
        return None
    first, last = match[1], match[2]
    if first:
        start, end = int(first), min(int(last) + 1 if last else size, size)
        if last and int(last) < start:
            return None
    else:
        start, end = max(size - int(last), 0), size
    if start >= end:
        raise Refused(416, "RANGE_NOT_SATISFIABLE", f"the file has {size} bytes")
    return Span(start, end)


def mode_bits(written: object) -> int | None:
    """Return the permission bits of a mode written as octal digits (755 or "755"); None for none.

    Raises: Refused 400 when it is not octal.
    """
    if written in (None, 0, "", "0"):
        return None
    text = str(written)
    if isinstance(written, bool) or not re.fullmatch(r"[0-7]{1,5}", text) or int(text, 8) > 0o7777:  # noqa: PLR2004  # all permission bits
        raise invalid(f"mode {text[:20]!r} is not octal digits such as 644")
    return int(text, 8)


def glob(pattern: str) -> re.Pattern[str]:
    """Compile a glob: `*` and `?` stay within a name, `**` crosses folders, `[..]` is a set.

    A pattern without `/` is meant for a file's name, one with `/` for its path below the folder
    searched (see `by_name`).
    """
    out: list[str] = []
    rest = pattern
    while rest:
        if rest.startswith("**/"):
            out.append("(?:.*/)?")
            rest = rest[3:]
        elif rest.startswith("**"):
            out.append(".*")
            rest = rest[2:]
        else:
            piece, rest = _one(rest)
            out.append(piece)
    try:
        return re.compile("".join(out), re.DOTALL)
    except re.error as error:
        raise invalid(f"the pattern {pattern[:100]!r} is not a glob: {error}") from error


def by_name(pattern: str) -> bool:
    """Say whether `pattern` is to be matched against names, not paths."""
    return "/" not in pattern and "**" not in pattern


def _one(rest: str) -> tuple[str, str]:
    """Return the expression for what `rest` begins with, and what follows it."""
    chars = _SET.match(rest)
    if chars is not None:
        inside = re.sub(r"([\\\[\]^&|~])", r"\\\1", chars[2])
        return f"[{'^/' if chars[1] else ''}{inside}]", rest[chars.end() :]
    if rest[0] == "*":
        return "[^/]*", rest[1:]
    if rest[0] == "?":
        return "[^/]", rest[1:]
    return re.escape(rest[0]), rest[1:]
