"""Where are these refs, and are they aliases? Asked of the host in protocol v2's ls-refs [pure, sans-I/O].

receive-pack follows symbolic refs: a push to `agent/X/sym` that points at `main` would move
`main`. Only ls-refs of protocol v2 names the targets of other refs than HEAD. A symbolic ref
whose target does not exist is not listed by any host, so it can't be seen.
"""

from collections.abc import Iterable

from entrance.git.pktline import DELIMITER, FLUSH, Mark, PktBuffer, ProtocolError, encode

MAX_ANSWER_BYTES = 1 << 20
_TARGET = b"symref-target:"


def encode_question(refs: Iterable[bytes], object_format: str) -> bytes:
    """The body of a v2 upload-pack request that lists these refs with what they point at.

    `object_format` is `sha1` or `sha256`, as the push's own object ids tell.
    """
    head = [b"command=ls-refs\n"]
    if object_format != "sha1":  # the default; a host older than the capability refuses its name
        head.append(b"object-format=" + object_format.encode() + b"\n")
    arguments = [b"symrefs\n", *(b"ref-prefix " + ref + b"\n" for ref in refs)]
    return b"".join((*map(encode, head), DELIMITER, *map(encode, arguments), FLUSH))


class AliasReader:
    """Fed the host's answer; tells where refs are, and which of them are symbolic."""

    def __init__(self) -> None:
        self._lines = PktBuffer()
        self._size = 0
        self._oids: dict[bytes, str] = {}
        self._targets: dict[bytes, bytes] = {}
        self._whole = False

    def feed(self, data: bytes) -> None:
        """Take the next bytes. Raises: ProtocolError when this is no list of refs."""
        self._size += len(data)
        if self._size > MAX_ANSWER_BYTES:
            raise ProtocolError("the host's list of refs is too long")
        self._lines.feed(data)
        while (line := self._lines.pop()) is not None:
            if self._whole:
                raise ProtocolError("the host's list of refs goes on after its end")
            if isinstance(line, Mark):
                self._whole = line is Mark.FLUSH
            else:
                self._take(line)

    def targets(self) -> dict[bytes, bytes]:
        """Each symbolic ref to what it points at. Raises: ProtocolError when the list broke off."""
        self._require_whole()
        return dict(self._targets)

    def oids(self) -> dict[bytes, str]:
        """Each ref that there is to the object that it is at. Raises: as `targets`."""
        self._require_whole()
        return dict(self._oids)

    def _require_whole(self) -> None:
        if not self._whole:
            raise ProtocolError("the host's list of refs broke off")

    def _take(self, line: bytes) -> None:
        oid, _, rest = line.removesuffix(b"\n").partition(b" ")
        ref, *attributes = rest.split(b" ")
        if len(oid) not in {40, 64} or not ref.startswith(b"refs/"):
            raise ProtocolError("the host does not speak protocol v2")
        self._oids[ref] = oid.decode("ascii", "replace")
        for attribute in attributes:
            if attribute.startswith(_TARGET):
                self._targets[ref] = attribute.removeprefix(_TARGET)
