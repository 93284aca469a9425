"""The log's lines in their order, from any place on: across segments, and while they are being written."""

import mmap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
from pydantic import BaseModel, ConfigDict, ValidationError

from entrance.errors import NotFound, Unavailable
from orchestrator.egress.segments import numbered, segments

MOST_BYTES = 1 << 20
LONGEST_LINE = 64 << 20


@dataclass(frozen=True, slots=True)
class Place:
    """Between two lines: so many bytes into a segment. Segment 0 is before the first."""

    segment: int = 0
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Line:
    """A line, as it is written (without its line feed) and as it is read."""

    raw: bytes
    fields: Mapping[str, Any]
    """`{"type": "unreadable"}` when it is no JSON object."""

    @property
    def seq(self) -> int:
        """Its number; 0 when it says none."""
        number = self.fields.get("seq")
        return number if isinstance(number, int) else 0


class Reader:
    """Reads on from a place. One that has caught up gives nothing, and goes on when there is more."""

    def __init__(self, folder: Path, place: Place | None = None) -> None:
        self._folder = folder
        self.place = place or Place()
        self.gap = False
        """Whether the place was no longer there, and reading went on with the oldest that is."""

    def read(self, most_bytes: int = MOST_BYTES, *, before: Place | None = None) -> Sequence[Line]:
        """The next whole lines, about `most_bytes` of them, none after the place `before`.

        Raises: NotFound when there is no log, Unavailable when it can't be read.
        """
        found = numbered(self._folder)
        while here := self._here(found):
            number, path = here
            raw = self._raw(path, self._most(most_bytes, before))
            if raw:
                self.place = Place(number, self.place.offset + len(raw))
                return [_line(one) for one in raw[:-1].split(b"\n")]
            # Only a segment that another follows is at its end for good; and it is looked at after that
            # was seen, so that nothing was added in between.
            if number == found[-1][0] or (before and number >= before.segment):
                return []
            self.place = Place(number + 1)
        return []

    def _here(self, found: Sequence[tuple[int, Path]]) -> tuple[int, Path] | None:
        """The segment that the place is in, or the next one that there is."""
        here = next((one for one in found if one[0] >= self.place.segment), None)
        if here is not None and here[0] != self.place.segment:
            self.gap = self.gap or self.place != Place()
            self.place = Place(here[0])
        return here

    def _most(self, most_bytes: int, before: Place | None) -> int:
        if before is None or self.place.segment < before.segment:
            return most_bytes
        limit = before.offset if self.place.segment == before.segment else 0
        return min(most_bytes, max(0, limit - self.place.offset))

    def _raw(self, path: Path, most: int) -> bytes:
        """Whole lines from the place on; a line that is longer than `most` comes alone."""
        try:
            with path.open("rb") as file:
                file.seek(self.place.offset)
                raw = file.read(most)
                if len(raw) == most and most and b"\n" not in raw:
                    raw += file.readline(LONGEST_LINE)
        except FileNotFoundError as error:
            raise NotFound(f"{path} is gone: it was removed while it was read") from error
        except OSError as error:
            raise Unavailable(f"{path} can't be read: {error.strerror}") from error
        return raw[: raw.rfind(b"\n") + 1]


class _Checkpoint(BaseModel):
    """What of the log's checkpoint a reader uses."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    segment: int
    bytes: int
    last_seq: int = 0


def vouched(folder: Path) -> Place | None:
    """Up to where the log's checkpoint vouches for it; None: there is none that can be read."""
    found = _checkpoint(folder)
    return Place(found.segment, found.bytes) if found else None


def vouched_seq(folder: Path) -> int:
    """The last record that the checkpoint vouches for; 0: there is none."""
    found = _checkpoint(folder)
    return found.last_seq if found else 0


def _checkpoint(folder: Path) -> _Checkpoint | None:
    try:
        return _Checkpoint.model_validate_json((folder / "head.json").read_bytes())
    except (OSError, ValidationError):
        return None


def near_the_end(folder: Path, back_bytes: int) -> Place:
    """A place about so many bytes before the end, between two lines. Raises: NotFound, Unavailable."""
    found = numbered(folder)
    left = back_bytes
    for number, path in reversed(found):
        size = path.stat().st_size
        if size > left:
            with path.open("rb") as file:
                file.seek(size - left)
                return Place(number, size - left + len(file.readline()))
        left -= size
    return Place(found[0][0]) if found else Place()


def find(folder: Path, seq: int) -> Line | None:
    """The line with this number; None when it isn't there (any more). Raises: NotFound, Unavailable."""
    for segment in segments(folder):
        seal = segment.seal
        if seal and not seal.first_seq <= seq <= seal.last_seq:
            continue
        try:
            raw = _found(segment.path, seq)
        except OSError as error:
            raise Unavailable(f"{segment.path} can't be read: {error.strerror}") from error
        if raw:
            return _line(raw)
    return None


def _found(path: Path, seq: int) -> bytes:
    """The whole line that begins with this number; nothing when there is none."""
    mark = b'{"seq":%d,' % seq
    with path.open("rb") as file:
        if not path.stat().st_size:
            return b""
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            at = 0 if data[: len(mark)] == mark else data.find(b"\n" + mark) + 1
            end = data.find(b"\n", at)
            return data[at:end] if data[at : at + len(mark)] == mark and end >= 0 else b""


def end(folder: Path) -> Place:
    """The place after the last byte. Raises: NotFound, Unavailable."""
    found = numbered(folder)
    return Place(found[-1][0], found[-1][1].stat().st_size) if found else Place()


def _line(raw: bytes) -> Line:
    try:
        fields = orjson.loads(raw)
    except orjson.JSONDecodeError:
        fields = None
    return Line(raw, fields if isinstance(fields, dict) else {"type": "unreadable"})
