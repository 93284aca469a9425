"""Looks through one object [pure, sans-I/O]."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from entrance.git.checks.facts import ObjectKind, Pointer, Sighting
from entrance.git.checks.scanners import lfs
from entrance.git.checks.scanners.passing import Pass


@dataclass(frozen=True, slots=True)
class Seen:
    """What was seen in an object."""

    sightings: tuple[Sighting, ...] = ()
    pointer: Pointer | None = None
    marks: Mapping[Sighting, frozenset[int]] = field(default_factory=dict, repr=False)
    """Of the values that were sighted; of use in one process only. None: more than are looked at."""

    def without(self, *older: "Seen") -> "Seen":
        """The same, but for secrets that an older object has, too: whoever edits a file brings no news.

        `older`: what the host has already at the same path, looked through in the same process.
        """
        known = frozenset[int]().union(*(marks for one in older for marks in one.marks.values()))
        news = tuple(one for one in self.sightings if not self._all_known(one, known))
        return replace(self, sightings=news)

    def _all_known(self, sighting: Sighting, known: frozenset[int]) -> bool:
        marks = self.marks.get(sighting)
        return bool(marks) and known.issuperset(marks or ())


class Scan:
    """Fed an object's bytes, in any pieces. Blobs, commits and tags are looked through alike."""

    def __init__(self, oid: str, kind: ObjectKind, size_bytes: int) -> None:
        self._oid = oid
        self._whole = bytearray() if kind == "blob" and size_bytes <= lfs.LONGEST else None
        self._text = Pass(oid)
        self._wide: Pass | None = None
        """Looks through the same without NUL bytes, which makes UTF-16 a text; from the first on."""

    def feed(self, data: bytes) -> None:
        """Take the next bytes."""
        if self._whole is not None:
            self._whole += data
        if self._wide is None and b"\0" in data:
            self._wide = self._text.fork()
        if self._wide is not None:
            self._wide.feed(data.replace(b"\0", b""))
        self._text.feed(data)

    def seen(self) -> Seen:
        """What was in all that was fed; after the last piece."""
        marks = dict(self._text.close())
        for sighting, more in (self._wide.close() if self._wide else {}).items():
            marks[sighting] = marks.get(sighting, frozenset()) | more
        pointer = lfs.pointer_in(self._oid, bytes(self._whole or b""))
        return Seen(tuple(marks), pointer, marks)
