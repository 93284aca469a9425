"""Server-sent events, fed as they come [pure]."""

from dataclasses import dataclass

LARGEST = 32 << 20


class TooLarge(Exception):
    """An event is larger than anything that is taken."""


@dataclass(frozen=True, slots=True)
class Event:
    """One event. `id` and `retry_ms` are None where it doesn't say them."""

    data: bytes
    id: str | None = None
    retry_ms: int | None = None


class EventReader:
    """Takes bytes in pieces of any size, gives events."""

    def __init__(self) -> None:
        self._rest = b""
        self._lines: list[bytes] = []
        self._size = 0

    def feed(self, data: bytes) -> list[Event]:
        """The events that end in `data`. Raises: TooLarge."""
        lines = (self._rest + data).split(b"\n")
        self._rest = lines.pop()
        self._size += len(data)
        if self._size > LARGEST:
            raise TooLarge
        found = []
        for line in lines:
            bare = line.removesuffix(b"\r")
            if bare:
                self._lines.append(bare)
            elif self._lines:
                found.append(_event(self._lines))
                self._lines = []
                self._size = len(self._rest)
        return found


def _event(lines: list[bytes]) -> Event:
    data, event_id, retry = [], None, None
    for line in lines:
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        match name:
            case b"data":
                data.append(value)
            case b"id" if b"\0" not in value:
                event_id = value.decode("utf-8", "replace")[:1000]
            case b"retry" if value.isdigit():
                retry = int(value[:9])
    return Event(b"\n".join(data), event_id, retry)
