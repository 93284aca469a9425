"""git's pkt-line framing, fed bytes at any split [pure, sans-I/O]."""

from enum import Enum

MAX_LINE = 65520
"""Length of the longest pkt-line, its four length digits included."""
MAX_PAYLOAD = MAX_LINE - 4
FLUSH = b"0000"
DELIMITER = b"0001"
_HEX = frozenset(b"0123456789abcdefABCDEF")


class Mark(Enum):
    """The pkt-lines that carry no payload; the value is the length that says so."""

    FLUSH = 0
    DELIMITER = 1
    RESPONSE_END = 2


class ProtocolError(ValueError):
    """The bytes are not what git's protocol says. The message is fit for the client's eyes."""


def encode(payload: bytes) -> bytes:
    """One pkt-line. Raises: ValueError when the payload does not fit."""
    if len(payload) > MAX_PAYLOAD:
        raise ValueError(f"a pkt-line carries at most {MAX_PAYLOAD} bytes, not {len(payload)}")
    return b"%04x" % (len(payload) + 4) + payload


class PktBuffer:
    """Bytes go in by `feed`, pkt-lines come out by `pop`. Holds one line, or what was fed."""

    def __init__(self) -> None:
        self._data = bytearray()
        self._at = 0

    def feed(self, data: bytes) -> None:
        if self._at:
            del self._data[: self._at]
            self._at = 0
        self._data += data

    def pop(self) -> bytes | Mark | None:
        """The next payload or mark; None when more bytes are needed. Raises: ProtocolError."""
        head = bytes(self._data[self._at : self._at + 4])
        if not _HEX.issuperset(head):
            raise ProtocolError("a pkt-line does not begin with its length")
        if len(head) < 4:  # noqa: PLR2004 - the length is four digits
            return None
        length = int(head, 16)
        if length <= Mark.RESPONSE_END.value:
            self._at += 4
            return Mark(length)
        if not 4 <= length <= MAX_LINE:  # noqa: PLR2004 - the four digits count themselves
            raise ProtocolError(f"a pkt-line can't be {length} bytes long")
        if len(self._data) - self._at < length:
            return None
        payload = bytes(self._data[self._at + 4 : self._at + length])
        self._at += length
        return payload

    def rest(self) -> bytes:
        """What was fed and not popped yet."""
        return bytes(self._data[self._at :])
