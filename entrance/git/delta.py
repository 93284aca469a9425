"""What a delta adds to its base: the bytes of its insert instructions [pure, sans-I/O].

A delta (gitformat-pack, "Deltified representation") is two sizes, then instructions: copy (the first
bit is set; what follows is offset and size, one byte for each of the seven other bits) or insert (its
first byte says how many bytes follow, 127 at most). A longer text stands in several of them.
"""

from entrance.git.pktline import ProtocolError

_COPY, _MORE = 0x80, 0x80
_SIZES = 2


class DeltaReader:
    """Fed the delta's bytes in any pieces. `most`: how many instructions it may have."""

    def __init__(self, most: int) -> None:
        self._left = most
        self._sizes = _SIZES
        self._skip = 0
        self._insert = 0

    @property
    def left(self) -> int:
        """How many more instructions there may be."""
        return self._left

    def feed(self, data: bytes) -> bytes:
        """What these bytes insert, without what lies between. Raises: ProtocolError."""
        inserted = []
        at, end = self._behind_sizes(data), len(data)
        while at < end:
            if self._skip:
                step = min(self._skip, end - at)
                self._skip -= step
            elif self._insert:
                step = min(self._insert, end - at)
                inserted.append(data[at : at + step])
                self._insert -= step
            else:
                step = 1
                self._begin(data[at])
            at += step
        return b"".join(inserted)

    def _behind_sizes(self, data: bytes) -> int:
        at = 0
        while self._sizes and at < len(data):
            if not data[at] & _MORE:
                self._sizes -= 1
            at += 1
        return at

    def _begin(self, instruction: int) -> None:
        if not instruction:
            raise ProtocolError("a delta has an instruction that git doesn't know")
        if not self._left:
            raise ProtocolError(
                "its deltas have too many instructions; push with `git -c pack.window=0 push`"
            )
        self._left -= 1
        if instruction & _COPY:
            self._skip = (instruction ^ _COPY).bit_count()
        else:
            self._insert = instruction
