"""What went wrong with a model call, as everybody who reads the record needs to know it [pure].

Each API has words of its own for it (`dialects.faults`). Where its codes are clear they decide; then
its words, as some say "too long" or "not paid" with nothing but a 400; then the status.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from entrance.model.dialects.reading import part, parts

Kind = Literal[
    "rate_limit",
    "overloaded",
    "credential",
    "context_overflow",
    "bad_request",
    "provider_error",
    "unreachable",
    "cut",
    "stalled",
]

MESSAGE_LENGTH = 300
"""Characters of what a provider says that are kept."""

_BY_STATUS: Mapping[int, Kind] = {
    401: "credential",
    402: "credential",
    403: "credential",
    408: "provider_error",
    413: "context_overflow",
    429: "rate_limit",
    503: "overloaded",
    529: "overloaded",
}
_TAG = re.compile(r"<[^>]*>")
_SECONDS = re.compile(r"([0-9]+(?:\.[0-9]+)?)s")


@dataclass(frozen=True, slots=True)
class Faults:
    """How one API tells of errors.

    `codes`: those that tell more than the status. `words`: in its messages, where no code does.
    """

    codes: Mapping[str, Kind]
    words: Sequence[tuple[re.Pattern[str], Kind]]


@dataclass(frozen=True, slots=True)
class Fault:
    """What a provider says of an error: its codes, the most telling first, and its message."""

    codes: tuple[str, ...] = ()
    message: str = ""
    retry_after: str = ""
    """Seconds, where the body has them; most providers tell them in a header."""


@dataclass(frozen=True, slots=True)
class Trouble:
    """What went wrong. `message`: short, without secrets, for people to read."""

    kind: Kind
    message: str


def fault_in(told: Any) -> Fault:
    """What an error body or event says, in any of the shapes that providers have for it.

    An object `error` with `type`, `code`, `status` and `details`, alone in a list, or in the
    response that failed; or the same without an object around it.
    """
    holder = next(iter(parts(told)), {}) if isinstance(told, list) else told
    error = part(holder, "error") or part(part(holder, "response"), "error")
    error = error or (holder if isinstance(holder, dict) else {})
    details = parts(error.get("details"))
    named = [*(one.get("reason") for one in details), *map(error.get, ("code", "type", "status"))]
    delays = (_SECONDS.fullmatch(str(one.get("retryDelay"))) for one in details)
    message = error.get("message")
    return Fault(
        tuple(name for name in named if isinstance(name, str)),
        in_short(message) if isinstance(message, str) else "",
        next((found[1] for found in delays if found), ""),
    )


def in_short(text: str) -> str:
    """A message in one line; of a page, its words."""
    return " ".join(_TAG.sub(" ", text[:10_000]).split())[:MESSAGE_LENGTH]


def kind_of(status: int, fault: Fault, faults: Faults) -> Kind:
    """The kind of an error; `status` below 400: it came in the middle of a stream."""
    for code in fault.codes:
        if code in faults.codes:
            return faults.codes[code]
    for words, kind in faults.words:
        if words.search(fault.message):
            return kind
    if status in _BY_STATUS:
        return _BY_STATUS[status]
    return "bad_request" if 400 <= status < 500 else "provider_error"  # noqa: PLR2004 - HTTP
