"""Packs made by hand, also such as git would never make. SHA-1 only."""

import hashlib
import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass

COMMIT, TREE, BLOB, TAG, OFS_DELTA, REF_DELTA = 1, 2, 3, 4, 6, 7
_KINDS = {COMMIT: "commit", TREE: "tree", BLOB: "blob", TAG: "tag"}
WHO = b"agent <agent@localhost> 1800000000 +0000"


@dataclass(frozen=True, slots=True)
class Object:
    """What git names by its hash."""

    kind: int
    data: bytes

    @property
    def oid(self) -> str:
        head = f"{_KINDS[self.kind]} {len(self.data)}\0".encode()
        return hashlib.sha1(head + self.data, usedforsecurity=False).hexdigest()


def blob(data: bytes) -> Object:
    return Object(BLOB, data)


def tree(*entries: tuple[bytes, bytes, str]) -> Object:
    """`entries`: mode as it is to stand there, name, object; in this order."""
    return Object(
        TREE,
        b"".join(mode + b" " + name + b"\0" + bytes.fromhex(oid) for mode, name, oid in entries),
    )


def commit(
    tree_oid: str, *parents: str, more: bytes = b"", message: bytes = b"By hand\n"
) -> Object:
    lines = [b"tree " + tree_oid.encode(), *(b"parent " + oid.encode() for oid in parents)]
    lines += [b"author " + WHO, b"committer " + WHO]
    return Object(COMMIT, b"\n".join(lines) + b"\n" + more + b"\n" + message)


def entry(kind: int, data: bytes, base: bytes = b"", size: int | None = None) -> bytes:
    """An object as a pack has it. `base`: a delta's base, encoded. `size`: what it says of itself."""
    left = len(data) if size is None else size
    head = bytearray([kind << 4 | left & 15])
    left >>= 4
    while left:
        head[-1] |= 0x80
        head.append(left & 0x7F)
        left >>= 7
    return bytes(head) + base + zlib.compress(data)


def whole(each: Object) -> bytes:
    return entry(each.kind, each.data)


def delta(base_size: int, result_size: int, *instructions: bytes) -> bytes:
    return _length(base_size) + _length(result_size) + b"".join(instructions)


def insert(data: bytes) -> bytes:
    """An instruction that adds at most 127 bytes."""
    return bytes([len(data)]) + data


def copy(offset: int, size: int) -> bytes:
    """An instruction that copies from the base."""
    return b"\xff" + struct.pack("<I", offset) + struct.pack("<I", size)[:3]


def back(distance: int) -> bytes:
    """How an OFS delta names its base."""
    out = [distance & 0x7F]
    while distance := distance >> 7:
        distance -= 1
        out.append(0x80 | distance & 0x7F)
    return bytes(reversed(out))


def pack(
    entries: Sequence[bytes], *, count: int | None = None, version: int = 2, tail: bytes = b""
) -> bytes:
    """`count`: how many it says that it has. `tail` follows its hash."""
    body = b"PACK" + struct.pack(">II", version, len(entries) if count is None else count)
    body += b"".join(entries)
    return body + hashlib.sha1(body, usedforsecurity=False).digest() + tail


def _length(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number])
