"""Takes out of a receive-pack advertisement what the door does not carry [pure, sans-I/O].

`push-cert=`, `push-options`: such pushes are refused, and without these words git says so itself,
clearly. `session-id=` is the host's own. `delete-refs` stays: without it git refuses a deletion
with no reason at all.

Of the refs, branches and tags are shown. git sends nothing that any advertised ref leads to (pull
requests, the `.have` of a fork's parent), and what the door's own copy lacks couldn't be judged.
"""

import re

from entrance.git.pktline import FLUSH, Mark, PktBuffer, encode

_DROPPED = (b"push-cert=", b"push-options", b"session-id=")
_REF = re.compile(rb"([0-9a-f]{40}|[0-9a-f]{64}) (.+)", re.DOTALL)
_SHOWN = re.compile(rb"refs/(?:heads|tags)/|capabilities\^\{\}")


class AdvertisementFilter:
    """Fed the host's advertisement; gives back what the client is shown. Memory flat."""

    def __init__(self) -> None:
        self._lines = PktBuffer()
        self._waiting: tuple[int, bytes] | None = None
        """Digits of an id, and capabilities that stood on a ref which is not shown."""

    def feed(self, data: bytes) -> bytes:
        """The bytes to pass on. Raises: ProtocolError when it is no advertisement."""
        self._lines.feed(data)
        out = bytearray()
        while (line := self._lines.pop()) is not None:
            out += self._marked(line) if isinstance(line, Mark) else self._shown(line)
        return bytes(out)

    def _marked(self, mark: Mark) -> bytes:
        if mark is not Mark.FLUSH:
            return b"%04x" % mark.value
        if self._waiting is None:
            return FLUSH
        digits, capabilities = self._waiting
        self._waiting = None
        return _with(b"0" * digits + b" capabilities^{}", capabilities) + FLUSH

    def _shown(self, line: bytes) -> bytes:
        ref, nul, said = line.partition(b"\0")
        named = _REF.match(ref)
        if named is None:
            return _with(ref, _kept(said)) if nul else encode(line)
        if not _SHOWN.match(named[2]):
            if nul:
                self._waiting = len(named[1]), _kept(said)
            return b""
        if nul:
            return _with(ref, _kept(said))
        if self._waiting is None:
            return encode(line)
        _, capabilities = self._waiting
        self._waiting = None
        return _with(ref.removesuffix(b"\n"), capabilities)


def _kept(capabilities: bytes) -> bytes:
    return b" ".join(word for word in capabilities.split() if not word.startswith(_DROPPED))


def _with(ref: bytes, capabilities: bytes) -> bytes:
    return encode(ref + b"\0" + capabilities + b"\n")
