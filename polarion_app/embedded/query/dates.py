"""What a date in a query stands for [pure]: `20261130`, `2026-11-30`, `$today-7d$`."""

import re
from datetime import datetime, timedelta

from polarion_app.embedded.query.terms import BadQuery

_FULL = re.compile(r"(\d{4})-?(\d{2})-?(\d{2})(?:T?(\d{2}):?(\d{2})(?::?(\d{2}))?(?:\.\d+)?Z?)?")
_TODAY = re.compile(r"\$(today|now)(?:([+-])(\d{1,4})([hdwm]))?\$")
_HOURS = {"h": 1, "d": 24, "w": 24 * 7, "m": 24 * 30}
DAY = timedelta(days=1)
SECOND = timedelta(seconds=1)


def span(text: str, now: datetime) -> tuple[str, str]:
    """The time that `text` covers, as two ISO stamps: from (included) to (excluded).

    A day covers 24 hours, a time a second. Stamps have no zone: they compare with stored
    ones, which are UTC, as text.

    Raises: BadQuery.
    """
    if match := _TODAY.fullmatch(text):
        return _relative(match, now)
    match = _FULL.fullmatch(text)
    if match is None:
        raise BadQuery(f"'{text}' is not a date: write 20261130, 2026-11-30 or $today-7d$.")
    numbers = [int(part) for part in match.groups() if part is not None]
    try:
        start = datetime(*numbers)  # type: ignore[arg-type]  # noqa: DTZ001 - UTC without a zone
        return _stamps(start, DAY if len(numbers) == 3 else SECOND)  # noqa: PLR2004 - year, month, day
    except (ValueError, OverflowError) as error:
        raise BadQuery(f"'{text}' is not a date: {error}.") from error


def _relative(match: re.Match[str], now: datetime) -> tuple[str, str]:
    word, sign, amount, unit = match.groups()
    base = now.replace(tzinfo=None, microsecond=0)
    if word == "today":
        base = base.replace(hour=0, minute=0, second=0)
    hours = int(amount) * _HOURS[unit] if amount else 0
    start = base + timedelta(hours=-hours if sign == "-" else hours)
    return _stamps(start, DAY if word == "today" and unit != "h" else SECOND)


def _stamps(start: datetime, length: timedelta) -> tuple[str, str]:
    return start.isoformat(), (start + length).isoformat()
