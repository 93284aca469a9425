"""What the meters of all dialects do: whole events go through, and each is read once [pure]."""

from collections.abc import Mapping
from typing import Any

from entrance.model.dialects.reading import object_in
from entrance.model.dialects.sse import Events, data_of
from entrance.model.dialects.trouble import Fault


class Stream:
    """The part of a `StreamMeter` that is the same for each; a dialect says what an event means."""

    def __init__(self) -> None:
        self._events = Events()
        self.fault: Fault | None = None
        self.over = False

    def feed(self, chunk: bytes) -> bytes:
        return self._seen(self._events.feed(chunk))

    def rest(self) -> bytes:
        return self._seen(self._events.rest())

    def _seen(self, events: bytes) -> bytes:
        """Take note of whole events; what of them goes on."""
        self._read(events)
        return events

    def _read(self, events: bytes) -> None:
        for data in data_of(events):
            event = object_in(data)
            if event is not None:
                self._take(event)

    def _take(self, event: Mapping[str, Any]) -> None:
        """Take note of one event."""
        raise NotImplementedError
