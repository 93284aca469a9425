"""Which objects a pack has, as git's index of it tells (gitformat-pack, version 2) [pure]."""

import struct
from collections.abc import Iterator
from dataclasses import dataclass

HEAD = b"\xfftOc\x00\x00\x00\x02"
_FANOUT = 256
_LARGE = 1 << 31


class IndexBrokenError(ValueError):
    """This is no index of a pack."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One object: its id, hex, and where it begins in the pack."""

    offset: int
    oid: str


def entries_of(index: bytes, oid_bytes: int) -> list[Entry]:
    """What the pack has, in the order in which it stands there. Raises: IndexBrokenError."""
    try:
        return sorted(_entries(index, oid_bytes), key=lambda one: one.offset)
    except (struct.error, IndexError) as error:
        raise IndexBrokenError("the pack's index breaks off") from error


def count_of(index: bytes) -> int:
    """How many objects the pack has. Raises: IndexBrokenError."""
    if index[:8] != HEAD or len(index) < len(HEAD) + 4 * _FANOUT:
        raise IndexBrokenError("the pack's index can't be read")
    (count,) = struct.unpack_from(">I", index, len(HEAD) + 4 * (_FANOUT - 1))
    return int(count)


def _entries(index: bytes, oid_bytes: int) -> Iterator[Entry]:
    count = count_of(index)
    names = len(HEAD) + 4 * _FANOUT
    short = names + count * (oid_bytes + 4)  # behind the names stands a checksum of each
    large = short + 4 * count
    offsets = struct.unpack_from(f">{count}I", index, short)
    for number, offset in enumerate(offsets):
        at = names + number * oid_bytes
        where = offset
        if offset >= _LARGE:
            (where,) = struct.unpack_from(">Q", index, large + 8 * (offset - _LARGE))
        yield Entry(where, index[at : at + oid_bytes].hex())
