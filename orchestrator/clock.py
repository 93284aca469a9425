"""The wall clock: the one place that asks the machine for the time."""

from datetime import UTC, datetime


class WallClock:
    """`orchestrator.ports.Clock` on the machine's clock."""

    def now(self) -> datetime:
        return datetime.now(UTC)  # noqa: TID251 - this is the Clock that everybody else is handed
