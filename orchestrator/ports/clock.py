"""Where time comes from."""

from datetime import datetime
from typing import Protocol


class Clock(Protocol):
    """Where time comes from."""

    def now(self) -> datetime:
        """The time, aware, UTC."""
        ...
