"""Server-sent events, fed as they come [pure]."""

from dataclasses import dataclass

LARGEST = 32 << 20
_KEPT = 64
"""What a line takes beside its bytes: a great many short ones are large, too."""


class TooLarge(Exception):
    """An event is larger than anything that is taken."""


@dataclass(frozen=True, slots=True)
class Event:
    """One event. `id` and `retry_ms` are None where it doesn't say them."""

    data: bytes
    name: str = "message"
    id: str | None = None
    retry_ms: int | None = None


class EventReader:
    """Takes bytes in pieces of any size, gives events."""

    def __init__(self) -> None:
        self._line = bytearray()
        self._lines: list[bytes] = []
        self._size = 0
        """Of `_lines`, as they are kept."""

    def feed(self, data: bytes) -> list[Event]:
        """The events that end in `data`. Raises: TooLarge."""
        *ended, rest = data.split(b"\n")
        found = []
        for end in ended:
            self._line += end
            line = bytes(self._line).removesuffix(b"\r")
            self._line.clear()
            if (event := self._taken(line)) is not None:
                found.append(event)
        self._line += rest
        if self._size + len(self._line) > LARGEST:
            raise TooLarge
        return found

    def _taken(self, line: bytes) -> Event | None:
        """The event that a line ends. A comment is nobody's business, and not kept."""
        if line.startswith(b":"):
            return None
        if line:
            self._lines.append(line)
            self._size += len(line) + _KEPT
            return None
        lines, self._lines, self._size = self._lines, [], 0
        return _event(lines) if lines else None


def _event(lines: list[bytes]) -> Event:
    data, kind, event_id, retry = [], "message", None, None
    for line in lines:
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        match name:
            case b"data":
                data.append(value)
            case b"event" if value:
                kind = value.decode("utf-8", "replace")[:100]
            case b"id" if b"\0" not in value:
                event_id = value.decode("utf-8", "replace")[:1000]
            case b"retry" if value.isdigit():
                retry = int(value[:9])
    return Event(b"\n".join(data), kind, event_id, retry)
