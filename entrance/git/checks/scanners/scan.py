"""Looks through one object [pure, sans-I/O]."""

import re
from dataclasses import dataclass

from entrance.git.checks.facts import ObjectKind, Pointer, Sighting


@dataclass(frozen=True, slots=True)
class Seen:
    """What was seen in an object."""

    sightings: tuple[Sighting, ...] = ()
    pointer: Pointer | None = None


class Scan:
    """Fed an object's bytes, in any pieces. Blobs, commits and tags are looked through alike."""

    def __init__(self, oid: str, kind: ObjectKind, size_bytes: int) -> None:
        self._oid = oid
        self._kind = kind
        self._whole = bytearray() if kind == "blob" and size_bytes <= LONGEST_POINTER else None

    def feed(self, data: bytes) -> None:
        """Take the next bytes."""
        if self._whole is not None:
            self._whole += data

    def seen(self) -> Seen:
        """What was in all that was fed; after the last piece."""
        return Seen((), pointer_in(self._oid, bytes(self._whole or b"")))


LONGEST_POINTER = 1024
"""Bytes; Git LFS takes nothing longer for a pointer."""
_POINTER = re.compile(
    rb"version https?://(?:git-lfs\.github\.com/spec/v1|hawser\.github\.com/spec/v1)\n"
    rb"(?:[a-z0-9.-]+ [^\n]*\n)*?oid sha256:([0-9a-f]{64})\n(?:[a-z0-9.-]+ [^\n]*\n)*?size ([0-9]{1,18})\n?"
    rb"(?:[a-z0-9.-]+ [^\n]*\n?)*"
)


def pointer_in(oid: str, blob: bytes) -> Pointer | None:
    """The pointer of Git LFS that a blob is, or None."""
    found = _POINTER.fullmatch(blob.replace(b"\r\n", b"\n").strip() + b"\n") if blob else None
    return Pointer(oid, found[1].decode(), int(found[2])) if found else None
