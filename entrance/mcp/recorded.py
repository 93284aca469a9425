"""What the log has of a call's arguments: all of them, but for secrets, and no more than a page [pure].

A secret is told by what it is called, by how it looks, and, where the vault has it, by its value.
"""

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from entrance.mcp.canonical import canonical, hash_of

LONGEST = 8 * 1024
"""Characters; what is longer is cut, and its hash says what it was."""
GONE = "[redacted]"
_DEEPEST = 50
_NAMES = 1024
"""Of arguments: those of a tool come again with every call."""

_CALLED = re.compile(
    r"pass(word|wd|phrase)?|pwd|secret|token|authorization|cookie|credentials?|otp|pin"
    r"|(api|access|private|secret|signing|encryption) ?keys?"
)
"""The last word, or the last two, of names whose values are nobody's business."""
_NEW_WORD = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[^a-zA-Z0-9]+")
_LOOKS = re.compile(
    r"sgr_[A-Za-z0-9_-]{8,}"
    r"|\bsk-[A-Za-z0-9_-]{16,}"
    r"|\bAIza[A-Za-z0-9_-]{20,}"
    r"|\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"
    r"|\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,})"
    r"|\bglpat-[A-Za-z0-9_-]{16,}"
    r"|\bxox[abeprs]-[A-Za-z0-9-]{10,}"
    r"|\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)"
    r"|(?<=://)[^/\s:@]{1,100}:[^/\s@]{1,200}(?=@)"
    r"|(?i:\b(?:bearer|basic)\s+)[A-Za-z0-9+/_.~-]{16,}=*"
)


def of_arguments(
    arguments: Mapping[str, Any], redacted: Callable[[str], str] = str
) -> dict[str, Any]:
    """The record's facts: the hash of all (RFC 8785), their size, and the text without secrets.

    `redacted` takes values out that are known to be secrets. `whole` says whether the text is all
    there is: nothing was taken out, and nothing cut.
    """
    try:
        text = canonical(arguments)
    except ValueError:  # half a character: it is refused further on, and recorded all the same
        text = repr(arguments)
    clean = _each(arguments, _DEEPEST)
    told = redacted(text if clean == arguments else canonical(clean))
    return {
        "arguments_sha256": hash_of(text),
        "bytes": len(text.encode(errors="replace")),
        "arguments": told[:LONGEST],
        "whole": told == text and len(text) <= LONGEST,
    }


@lru_cache(_NAMES)
def is_secret_name(name: str) -> bool:
    """Whether what is called so is not to be written down."""
    words = [word.lower() for word in _NEW_WORD.split(name) if word]
    return any(_CALLED.fullmatch(" ".join(words[-count:])) for count in (1, 2) if words)


def _each(value: Any, left: int) -> Any:
    if not left:
        return GONE
    match value:
        case str():
            return _LOOKS.sub(GONE, value)
        case dict() | Mapping():
            return {
                _LOOKS.sub(GONE, str(name)): GONE
                if inner is not None and is_secret_name(str(name)) and not isinstance(inner, bool)
                else _each(inner, left - 1)
                for name, inner in value.items()
            }
        case list():
            return [_each(one, left - 1) for one in value]
        case _:
            return value
