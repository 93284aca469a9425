"""What the objects of a pack say, read while it streams by [pure, sans-I/O].

A pack (gitformat-pack) is a head, entries, and the hash of all that. An entry is type and size, for a
delta the base that it is made against, and a zlib stream. Commits with authors and messages, tags,
trees with names, files: all of it is given out inflated; of deltas, what they add. What they copy
stood in an object before, which was read here or came from the host.
"""

import zlib
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from enum import Enum, auto

from entrance.git.delta import DeltaReader
from entrance.git.pktline import ProtocolError

HEAD_BYTES = 12
WINDOW_BYTES = 1 << 14
"""So much is inflated at a time: what follows a short object is copied by zlib each time."""
PIECE_BYTES = 1 << 18
MOST_BYTES = 4 << 30
"""A pack may unpack to so much: a few bytes could be made into terabytes."""
MOST_INSTRUCTIONS = 8_000_000
"""All deltas of a pack together may have so many, some seconds of work."""
LONGEST_HEADER = 2 * 10 + 32
"""Bytes of type and size, and of the base's place or name."""
_OFS_DELTA, _REF_DELTA = 6, 7
_TYPES = frozenset({1, 2, 3, 4, _OFS_DELTA, _REF_DELTA})


class _At(Enum):
    HEAD = auto()
    ENTRY = auto()
    OBJECT = auto()
    TRAILER = auto()


@dataclass(frozen=True, slots=True)
class _Entry:
    kind: int
    size: int
    length: int
    """Bytes of its header."""


class PackReader:
    """Fed the pack's bytes in any pieces. `oid_bytes`: 20, or 32 in a SHA-256 repository."""

    def __init__(self, oid_bytes: int, most_bytes: int = MOST_BYTES) -> None:
        self._oid_bytes = oid_bytes
        self._left_bytes = most_bytes
        self._left_instructions = MOST_INSTRUCTIONS
        self._data, self._read = b"", 0
        """What was fed and is not forgotten yet, and how much of it was read."""
        self._at = _At.HEAD
        self._entries = 0
        self._object_left = 0
        self._zlib = zlib.decompressobj()
        self._delta: DeltaReader | None = None

    @property
    def begun(self) -> bool:
        """Whether anything of a pack was fed."""
        return self._at is not _At.HEAD or bool(self._data)

    @property
    def whole(self) -> bool:
        """Whether all of the pack was fed."""
        return self._at is _At.TRAILER and len(self._data) - self._read == self._oid_bytes

    def feed(self, data: bytes) -> Iterator[bytes]:
        """What its objects say, as far as these bytes tell it. Raises: ProtocolError."""
        self._data, self._read = self._data[self._read :] + data, 0
        going_on = True
        while going_on:
            match self._at:
                case _At.HEAD:
                    going_on = self._read_head()
                case _At.ENTRY:
                    going_on = self._read_entry()
                case _At.OBJECT:
                    going_on = yield from self._inflate()
                case _At.TRAILER:
                    if len(self._data) - self._read > self._oid_bytes:
                        raise ProtocolError("data follows the pack")
                    return

    def _read_head(self) -> bool:
        if len(self._data) < HEAD_BYTES:
            return False
        version = int.from_bytes(self._data[4:8])
        if self._data[:4] != b"PACK" or version not in {2, 3}:
            raise ProtocolError("what follows the commands is no pack")
        self._entries = int.from_bytes(self._data[8:HEAD_BYTES])
        self._read = HEAD_BYTES
        self._next()
        return True

    def _next(self) -> None:
        self._at = _At.ENTRY if self._entries else _At.TRAILER

    def _read_entry(self) -> bool:
        header = self._data[self._read : self._read + LONGEST_HEADER]
        entry = _entry_in(header, self._oid_bytes)
        if entry is None:
            if len(header) == LONGEST_HEADER:
                raise ProtocolError("an object's header does not end")
            return False
        if entry.kind not in _TYPES:
            raise ProtocolError("an object of the pack has no type that git knows")
        if entry.size > self._left_bytes:
            raise ProtocolError("the pack unpacks to more than is taken; push in smaller steps")
        self._left_bytes -= entry.size
        self._read += entry.length
        self._object_left = entry.size
        self._zlib = zlib.decompressobj()
        delta = entry.kind in {_OFS_DELTA, _REF_DELTA}
        self._delta = DeltaReader(self._left_instructions) if delta else None
        self._at = _At.OBJECT
        return True

    def _inflate(self) -> Generator[bytes, None, bool]:
        """Give out what the object says; whether it ended here."""
        while self._read < len(self._data) and not self._ended():
            window = self._data[self._read : self._read + WINDOW_BYTES]
            piece = self._inflated(window)
            while piece:
                yield self._delta.feed(piece) if self._delta else piece
                # At its end zlib leaves what follows in both of its rests.
                piece = b"" if self._ended() else self._inflated(self._zlib.unconsumed_tail)
            self._read += len(window) - len(self._zlib.unused_data)
        if not self._ended():
            return False
        if self._object_left:
            raise ProtocolError("an object of the pack is shorter than it says")
        if self._delta:
            self._left_instructions = self._delta.left
        self._entries -= 1
        self._next()
        return True

    def _ended(self) -> bool:
        return self._zlib.eof

    def _inflated(self, data: bytes) -> bytes:
        try:
            piece = self._zlib.decompress(data, PIECE_BYTES)
        except zlib.error as error:
            raise ProtocolError("an object of the pack can't be inflated") from error
        if len(piece) > self._object_left:
            raise ProtocolError("an object of the pack is longer than it says")
        self._object_left -= len(piece)
        return piece


def _entry_in(data: bytes, oid_bytes: int) -> _Entry | None:
    """The header at the beginning of `data`; None when it is not whole."""
    if not data:
        return None
    kind, size, shift, at = data[0] >> 4 & 7, data[0] & 15, 4, 1
    while data[at - 1] & 0x80:
        if at >= len(data):
            return None
        size |= (data[at] & 0x7F) << shift
        shift, at = shift + 7, at + 1
        if shift > 64:  # noqa: PLR2004 - git's own sizes have 64 bits
            raise ProtocolError("an object's header does not end")
    if kind == _REF_DELTA:
        at += oid_bytes
    elif kind == _OFS_DELTA:
        while at < len(data) and data[at] & 0x80:
            at += 1
        at += 1
    return _Entry(kind, size, at) if at <= len(data) else None
