"""Bytes that came from one side and were not passed on yet, bounded: the core keeps any number of them."""

from dataclasses import dataclass

MAX_RESPONSE_GAP = 256 << 10
"""Of a response's head, of one chunk's header, of its trailers."""
MAX_MESSAGE = 1 << 20
"""Of one WebSocket message, which is passed on whole."""


@dataclass(slots=True)
class Backlog:
    """Of one side of a connection."""

    most: int | None = None
    """Without a bound until something is expected of this side."""
    count: int = 0

    def expect(self, most: int) -> None:
        """At most so many bytes from now on, until some are passed on."""
        self.most, self.count = most, 0

    def passed_on(self) -> None:
        """What came has gone on."""
        self.count = 0

    def overflows_with(self, number: int) -> bool:
        """Take so many more in; say whether these are too many."""
        self.count += number
        return self.most is not None and self.count > self.most
