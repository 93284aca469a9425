"""How long the other side asks to wait: a table of the places where it may say so [pure]."""

import re
from collections.abc import Callable, Mapping, Sequence
from email.utils import parsedate_to_datetime
from typing import Any

Headers = Mapping[str, str]


def seconds(headers: Headers, error: Mapping[str, Any] | None = None) -> float | None:
    """The seconds to wait, by an answer's headers and the `error` in its body; None if unsaid."""
    for read in _PLACES:
        try:
            found = read(headers, error or {})
        except (AttributeError, KeyError, TypeError, ValueError):  # not said there, or not so
            continue
        return max(0.0, found)
    return None


def _milliseconds(headers: Headers, _: Mapping[str, Any]) -> float:
    return float(headers["retry-after-ms"]) / 1000


def _number(headers: Headers, _: Mapping[str, Any]) -> float:
    return float(headers["retry-after"])


def _date(headers: Headers, _: Mapping[str, Any]) -> float:
    """By the other side's own clock."""
    then, now = (parsedate_to_datetime(headers[name]) for name in ("retry-after", "date"))
    return (then - now).total_seconds()


def _in_body(_: Headers, error: Mapping[str, Any]) -> float:
    """Google's `RetryInfo`: `{"retryDelay": "39s"}`."""
    (delay,) = (detail["retryDelay"] for detail in error["details"] if "retryDelay" in detail)
    return float(re.fullmatch(r"([\d.]+)s", delay)[1])  # type: ignore[index]


_PLACES: Sequence[Callable[[Headers, Mapping[str, Any]], float]] = (
    _milliseconds,
    _number,
    _date,
    _in_body,
)
