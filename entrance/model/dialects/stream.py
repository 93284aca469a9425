"""What the meters of all dialects do: whole events go through at once, and are read later [pure].

Later is when somebody asks what they came to. Most events come alone and long after the last one:
to read each when it comes would cost several times what it costs to read some at a time.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

from entrance.model.dialects.reading import object_in
from entrance.model.dialects.sse import Events, data_of
from entrance.model.dialects.trouble import Fault


class Stream(ABC):
    """The part of a `StreamMeter` that is the same for each; a dialect says what an event means.

    What has gone by is kept until somebody asks: ask now and then.
    """

    def __init__(self) -> None:
        self._events = Events()
        self._unread: list[bytes] = []
        self._fault: Fault | None = None
        self._over = False

    def feed(self, chunk: bytes) -> bytes:
        whole = self._events.feed(chunk)
        self._unread.append(whole)
        return whole

    def rest(self) -> bytes:
        left = self._events.rest()
        self._unread.append(left)
        return left

    @property
    def fault(self) -> Fault | None:
        self.catch_up()
        return self._fault

    @property
    def over(self) -> bool:
        self.catch_up()
        return self._over

    def catch_up(self) -> None:
        """Take note of everything that has gone by."""
        if self._unread:
            events = b"".join(self._unread)
            self._unread.clear()
            for data in data_of(events):
                event = object_in(data)
                if event is not None:
                    self._take(event)

    @abstractmethod
    def _take(self, event: Mapping[str, Any]) -> None:
        """Take note of one event."""
