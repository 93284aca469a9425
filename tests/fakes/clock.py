"""A clock that stands still until it is moved."""

from datetime import UTC, datetime, timedelta

START = datetime(2026, 1, 5, 9, tzinfo=UTC)


class FakeClock:
    """`orchestrator.ports.Clock` for tests."""

    def __init__(self, start: datetime = START) -> None:
        self._now = start

    def now(self) -> datetime:
        return self._now

    def advance(self, seconds: float) -> datetime:
        """Move on by `seconds`; the new time."""
        self._now += timedelta(seconds=seconds)
        return self._now
