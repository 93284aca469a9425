"""One pass of the engine over an object's bytes [pure, sans-I/O]."""

from collections import Counter
from collections.abc import Mapping

from entrance.git.checks.facts import Sighting
from entrance.git.checks.scanners.engine import Hit, engine
from entrance.git.checks.scanners.kinds import LONGEST

PIECE_BYTES = 1 << 18
MOST_SIGHTINGS = 20
"""Of one kind in one object; the last stands for the rest."""
MOST_LOOKED_AT = 5_000
"""So many matches of one kind in one object are looked at; what has more, is taken for secrets."""


class Pass:
    """Fed the bytes in any pieces. `lines` went before them."""

    _open = False

    def __init__(self, oid: str, lines: int = 0) -> None:
        self._oid = oid
        self._lines = lines
        self._tail = b""
        """What may be the beginning of a match that goes on."""
        self._read = 0
        self._ends: list[tuple[int, int]] = []
        self._looked = Counter[str]()
        self._seen: dict[Sighting, set[int]] = {}
        self._number = Counter[str]()
        self._last: dict[str, Sighting] = {}
        ends = self._ends

        def on_match(look: int, _start: int, end: int, _flags: int, _: object) -> None:
            ends.append((look, end))

        self._on_match = on_match
        self._stream = engine().open(on_match)
        self._open = True

    def fork(self) -> "Pass":
        """A new pass, as if it had been fed what this one keeps."""
        other = Pass(self._oid, self._lines - self._tail.count(b"\n"))
        other.feed(self._tail)
        return other

    def feed(self, data: bytes) -> None:
        """Take the next bytes."""
        for start in range(0, len(data), PIECE_BYTES):
            piece = data[start : start + PIECE_BYTES]
            self._stream.scan(piece)
            self._look_at(self._tail + piece, self._read - len(self._tail))
            self._lines += piece.count(b"\n")
            self._read += len(piece)
            self._tail = (self._tail + piece)[-LONGEST:]

    def close(self) -> Mapping[Sighting, frozenset[int]]:
        """All that was seen, with marks of the values; none where not all was looked at."""
        self._close()
        self._look_at(self._tail, self._read - len(self._tail))
        crowded = {what for what, looked in self._looked.items() if looked > MOST_LOOKED_AT}
        return {
            one: frozenset() if one.what in crowded else frozenset(marks)
            for one, marks in self._seen.items()
        }

    def __del__(self) -> None:
        self._close()

    def _close(self) -> None:
        """Matches that wait for the end are told now; without it, the engine's memory is lost."""
        if self._open:
            self._open = False
            self._stream.close()

    def _look_at(self, kept: bytes, at: int) -> None:
        """Look at the matches that ended; `kept` are the bytes from place `at` on."""
        for look, end in self._ends:
            what = engine().what(look)
            self._looked[what] += 1
            if self._looked[what] > MOST_LOOKED_AT:
                self._take(Hit(what, 0, 0), 0)
                continue
            first = max(0, end - at - LONGEST)
            if hit := engine().read(look, kept[first : end - at]):
                start = first + hit.start
                self._take(hit, self._line_of(kept, start, self._read - at))
        self._ends.clear()

    def _line_of(self, kept: bytes, start: int, known: int) -> int:
        """In which line a place is; up to `known` they are counted."""
        if start >= known:
            return self._lines + 1 + kept.count(b"\n", known, start)
        return self._lines + 1 - kept.count(b"\n", start, known)

    def _take(self, hit: Hit, line: int) -> None:
        sighting = Sighting(self._oid, hit.what, line)
        if sighting not in self._seen:
            if self._number[hit.what] >= MOST_SIGHTINGS:
                sighting = self._last[hit.what]
            else:
                self._number[hit.what] += 1
                self._last[hit.what] = sighting
        self._seen.setdefault(sighting, set()).add(hit.mark)
