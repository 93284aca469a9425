"""A stream of output as text in whole lines: what one stdout or stderr event carries."""

import codecs

MAX_PENDING = 256 * 1024  # of a line that does not end


class LineText:
    """Decodes bytes and lets go of them at line ends.

    The pieces joined are the stream decoded as UTF-8 with U+FFFD for what isn't. Every piece ends
    at a line end (`\\n` or `\\r`), but the last one, and but those of a line beyond `max_pending`.
    """

    def __init__(self, max_pending: int = MAX_PENDING) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._pending: list[str] = []
        self._size = 0
        self._max = max_pending

    def feed(self, data: bytes) -> str:
        """Return the lines that `data` completes; empty when it completes none."""
        text = self._decoder.decode(data)
        cut = max(text.rfind("\n"), text.rfind("\r")) + 1
        if not cut and self._size + len(text) > self._max:
            cut = len(text)
        if not cut:
            self._keep(text)
            return ""
        released = "".join([*self._pending, text[:cut]])
        self._pending, self._size = [], 0
        self._keep(text[cut:])
        return released

    def end(self) -> str:
        """Return what is left when the stream has ended."""
        rest = "".join([*self._pending, self._decoder.decode(b"", final=True)])
        self._pending, self._size = [], 0
        return rest

    def _keep(self, text: str) -> None:
        if text:
            self._pending.append(text)
            self._size += len(text)
