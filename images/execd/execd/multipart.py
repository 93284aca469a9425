"""multipart/form-data, fed in any pieces: parts begin, carry data, end."""

import re
from dataclasses import dataclass

from execd.errors import invalid

MAX_PART_HEAD = 16 * 1024
_BOUNDARY = re.compile(r'boundary=(?:"([^"]{1,200})"|([^\s;"]{1,200}))', re.IGNORECASE)
_NAME = re.compile(rb'[;\s]name=(?:"([^"]*)"|([^\s;]+))', re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class PartBegins:
    """A part of the form, by its field's name."""

    name: str


@dataclass(frozen=True, slots=True)
class PartData:
    """Some bytes of the part that has begun."""

    data: bytes


@dataclass(frozen=True, slots=True)
class PartEnds:
    """The part is complete."""


Event = PartBegins | PartData | PartEnds


def boundary_of(content_type: str) -> bytes:
    """Return the boundary that a Content-Type names.

    Raises: Refused 400 when it is not multipart/form-data with a boundary.
    """
    match = _BOUNDARY.search(content_type)
    if match is None or not content_type.lower().startswith("multipart/form-data"):
        raise invalid("expected multipart/form-data with a boundary")
    return (match[1] or match[2]).encode("latin-1")


class Form:
    """Reads one form. Keeps at most one part's head, or a boundary's length of data, in memory."""

    def __init__(self, boundary: bytes) -> None:
        self._delimiter = b"\r\n--" + boundary
        self._kept = b"\r\n"  # so that the first delimiter looks like the others
        self._state = self._preamble
        self.finished = False

    def feed(self, data: bytes) -> list[Event]:
        """Return what `data` brings.

        Raises: Refused 400 when it is not such a form.
        """
        self._kept += data
        events: list[Event] = []
        while not self.finished and self._state(events):
            pass
        return events

    def _preamble(self, events: list[Event]) -> bool:  # noqa: ARG002  # states are called alike
        at = self._kept.find(self._delimiter)
        if at < 0:
            self._kept = self._kept[-len(self._delimiter) :]
            return False
        self._kept = self._kept[at + len(self._delimiter) :]
        self._state = self._after_delimiter
        return True

    def _after_delimiter(self, events: list[Event]) -> bool:  # noqa: ARG002  # as above
        if len(self._kept) < 2:  # noqa: PLR2004  # "--" or CRLF
            return False
        if self._kept.startswith(b"--"):
            self.finished = True
            self._kept = b""
            return False
        line, end, rest = self._kept.partition(b"\r\n")
        if line.strip(b" \t") or not end:
            if line.strip(b" \t\r") or len(self._kept) > MAX_PART_HEAD:
                raise invalid("the form's boundary line is malformed")
            return False
        self._kept = b"\r\n" + rest  # an empty head is then just the empty line
        self._state = self._part_head
        return True

    def _part_head(self, events: list[Event]) -> bool:
        head, end, rest = self._kept.partition(b"\r\n\r\n")
        if not end:
            if len(self._kept) > MAX_PART_HEAD:
                raise invalid("a part's head is too long")
            return False
        match = _NAME.search(_disposition(head))
        if match is None:
            raise invalid("a part of the form has no name")
        name = (match[1] if match[1] is not None else match[2]).decode("utf-8", "replace")
        events.append(PartBegins(name))
        self._kept = rest
        self._state = self._part_data
        return True

    def _part_data(self, events: list[Event]) -> bool:
        at = self._kept.find(self._delimiter)
        if at < 0:
            safe = len(self._kept) - len(self._delimiter) + 1
            if safe > 0:
                events.append(PartData(self._kept[:safe]))
                self._kept = self._kept[safe:]
            return False
        if at:
            events.append(PartData(self._kept[:at]))
        events.append(PartEnds())
        self._kept = self._kept[at + len(self._delimiter) :]
        self._state = self._after_delimiter
        return True


def _disposition(head: bytes) -> bytes:
    for line in head.split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name.strip().lower() == b"content-disposition":
            return value
    return b""
