"""What a host has: its branches and tags, asked before a push in protocol v2's ls-refs [pure, sans-I/O].

It answers two questions at once. Is a branch an alias? receive-pack follows symbolic refs: a push to
`agent/X/sym` that points at `main` would move `main`. Only ls-refs of protocol v2 names the targets
of other refs than HEAD; a symbolic ref whose target does not exist is not listed by any host, so it
can't be seen. And is our mirror as the host is? `Listing.digest` says so, whatever the list's length.
"""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from entrance.git.pktline import DELIMITER, FLUSH, Mark, PktBuffer, ProtocolError, encode
from entrance.git.refs import RefUpdate

MAX_ANSWER_BYTES = 64 << 20
"""Some 800,000 refs; in memory they are twice that, for as long as the push takes."""
PREFIXES = (b"refs/heads/", b"refs/tags/")
_TARGET = b"symref-target:"
_OID_LENGTHS = frozenset({40, 64})


@dataclass(frozen=True, slots=True)
class Listing:
    """`digest`: the same for the same branches and tags at the same objects (see `digest_of`)."""

    digest: str
    lines: frozenset[bytes] = frozenset()
    """What it is the digest of: `OID REF` each."""
    targets: Mapping[bytes, bytes] = field(default_factory=dict)
    """Each symbolic ref to what it points at."""
    asked: Mapping[bytes, str] = field(default_factory=dict)
    """Of the refs that were asked for by name: where they are."""


def aliased(updates: Iterable[RefUpdate], listing: Listing | None, why: str) -> dict[bytes, str]:
    """The refs that would move another branch, each with the sentence that says so.

    A ref that the push creates is safe: the host compares the old value through the alias. `why` says
    what kept the host from telling, where there is no listing.
    """
    existing = [update.ref for update in updates if not update.creates]
    if listing is None:
        unknown = f"it could not be checked whether this branch is an alias of another: {why}"
        return dict.fromkeys(existing, unknown)
    alias = "this branch is an alias of another on the host; push under a new name"
    return {ref: alias for ref in existing if ref in listing.targets}


def encode_question(object_format: str) -> bytes:
    """The body of a v2 upload-pack request that lists branches and tags with what they point at.

    `object_format` is `sha1` or `sha256`, as the push's own object ids tell.
    """
    head = [b"command=ls-refs\n"]
    if object_format != "sha1":  # the default; a host older than the capability refuses its name
        head.append(b"object-format=" + object_format.encode() + b"\n")
    arguments = [b"symrefs\n", *(b"ref-prefix " + prefix + b"\n" for prefix in PREFIXES)]
    return b"".join((*map(encode, head), DELIMITER, *map(encode, arguments), FLUSH))


def digest_of(listed: bytes) -> str:
    """The digest of refs as `OID REF` lines, sorted by ref as git sorts them."""
    return hashlib.sha256(listed).hexdigest()


class ListingReader:
    """Fed the host's answer. `wanted`: refs that are to be told by name."""

    def __init__(self, wanted: frozenset[bytes] = frozenset()) -> None:
        self._lines = PktBuffer()
        self._wanted = wanted
        self._size = 0
        self._listed: list[bytes] = []
        self._hash = hashlib.sha256()
        self._targets: dict[bytes, bytes] = {}
        self._asked: dict[bytes, str] = {}
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

    def listing(self) -> Listing:
        """All of it. Raises: ProtocolError when the list broke off."""
        if not self._whole:
            raise ProtocolError("the host's list of refs broke off")
        digest, lines = self._hash.hexdigest(), frozenset(self._listed)
        return Listing(digest, lines, self._targets, self._asked)

    def _take(self, line: bytes) -> None:
        oid, _, rest = line.removesuffix(b"\n").partition(b" ")
        ref, *attributes = rest.split(b" ")
        if len(oid) not in _OID_LENGTHS or not ref.startswith(b"refs/"):
            raise ProtocolError("the host does not speak protocol v2")
        listed = oid + b" " + ref
        self._hash.update(listed + b"\n")
        self._listed.append(listed)
        if ref in self._wanted:
            self._asked[ref] = oid.decode("ascii", "replace")
        for attribute in attributes:
            if attribute.startswith(_TARGET):
                self._targets[ref] = attribute.removeprefix(_TARGET)
