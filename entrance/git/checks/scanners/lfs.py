"""Reads pointers of Git LFS [pure]: small files that stand for large ones, kept elsewhere."""

import re

from entrance.git.checks.facts import Pointer

LONGEST = 1024
"""Bytes; Git LFS takes nothing longer for a pointer."""
_SPEC = re.compile(rb"version https?://(?:git-lfs\.github\.com|hawser\.github\.com)/spec/v[0-9]+")
_OID, _SIZE = re.compile(rb"oid sha256:([0-9a-f]{64})"), re.compile(rb"size ([0-9]{1,18})")


def pointer_in(oid: str, blob: bytes) -> Pointer | None:
    """The pointer that a blob is, as tolerant of blanks as Git LFS is; None when it is none."""
    if len(blob) > LONGEST:
        return None
    first, *others = [line.strip() for line in blob.split(b"\n")]
    if not _SPEC.fullmatch(first):
        return None
    sha256 = next((found[1] for line in others if (found := _OID.fullmatch(line))), b"")
    size = next((found[1] for line in others if (found := _SIZE.fullmatch(line))), b"0")
    return Pointer(oid, sha256.decode(), int(size))
