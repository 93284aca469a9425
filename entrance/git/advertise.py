"""Takes out of a receive-pack advertisement what the door does not carry [pure, sans-I/O].

`push-cert=`, `push-options`: such pushes are refused, and without these words git says so itself,
clearly. `session-id=` is the host's own. `delete-refs` stays: without it git refuses a deletion
with no reason at all.
"""

from entrance.git.pktline import FLUSH, Mark, PktBuffer, encode

_DROPPED = (b"push-cert=", b"push-options", b"session-id=")
_LINES_BEFORE_CAPABILITIES = 4
"""`# service=...`, flush, perhaps `version 1`: capabilities come with the first ref after them."""


class AdvertisementFilter:
    """Fed the host's advertisement; gives back what the client is shown. Memory flat."""

    def __init__(self) -> None:
        self._lines: PktBuffer | None = PktBuffer()
        self._seen = 0

    def feed(self, data: bytes) -> bytes:
        """The bytes to pass on. Raises: ProtocolError when it is no advertisement."""
        if self._lines is None:
            return data
        self._lines.feed(data)
        out = bytearray()
        while (line := self._lines.pop()) is not None:
            self._seen += 1
            out += _shown(line)
            if self._is_past_capabilities(line):
                out += self._lines.rest()
                self._lines = None
                break
        return bytes(out)

    def _is_past_capabilities(self, line: bytes | Mark) -> bool:
        has_them = isinstance(line, bytes) and b"\0" in line
        return has_them or self._seen >= _LINES_BEFORE_CAPABILITIES


def _shown(line: bytes | Mark) -> bytes:
    if isinstance(line, Mark):
        return FLUSH if line is Mark.FLUSH else b"%04x" % line.value
    ref, nul, capabilities = line.partition(b"\0")
    if not nul:
        return encode(line)
    kept = [word for word in capabilities.split() if not word.startswith(_DROPPED)]
    return encode(ref + b"\0" + b" ".join(kept) + b"\n")
