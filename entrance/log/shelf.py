"""A log's folder: what lies in it under which name, and how small files get there whole.

egress-00000001.jsonl          a segment's lines
egress-00000001.seal.json      what was signed when it was full
egress-00000001.dropped.json   what was signed when it was removed by rule
egress-00000001.torn-4711      what a crash left half written at byte 4711
head.json                      the signed checkpoint of the segment that is written to
.lock                          held by the one process that writes
"""

import os
import re
from dataclasses import dataclass
from pathlib import Path

_SEGMENT = re.compile(r"egress-(\d{8})\.jsonl")
_DROPPED = re.compile(r"egress-(\d{8})\.dropped\.json")


@dataclass(frozen=True, slots=True)
class Shelf:
    """The folder of one log."""

    folder: Path

    def segment(self, number: int) -> Path:
        return self.folder / f"egress-{number:08d}.jsonl"

    def seal(self, number: int) -> Path:
        return self.folder / f"egress-{number:08d}.seal.json"

    def dropped(self, number: int) -> Path:
        return self.folder / f"egress-{number:08d}.dropped.json"

    def torn(self, number: int, offset: int) -> Path:
        return self.folder / f"egress-{number:08d}.torn-{offset}"

    def copies(self, number: int) -> list[Path]:
        """What readers keep beside a segment."""
        return list(self.folder.glob(f"egress-{number:08d}.*.parquet"))

    @property
    def head(self) -> Path:
        return self.folder / "head.json"

    @property
    def lock(self) -> Path:
        return self.folder / ".lock"

    def segments(self) -> list[int]:
        """The numbers of the segments that are there, in order."""
        return self._numbers(_SEGMENT)

    def removed(self) -> list[int]:
        """The numbers of the segments that were removed by rule, in order."""
        return self._numbers(_DROPPED)

    def _numbers(self, pattern: re.Pattern[str]) -> list[int]:
        if not self.folder.is_dir():
            return []
        found = (pattern.fullmatch(path.name) for path in self.folder.iterdir())
        return sorted(int(each[1]) for each in found if each)


def private(path: str, flags: int) -> int:
    """Open a file that only its owner may read."""
    return os.open(path, flags | os.O_CLOEXEC, 0o600)


def put(path: Path, content: bytes) -> None:
    """Put a small file in its place, whole and on the disk. Raises: OSError."""
    part = path.with_name(f".{path.name}.part")
    with open(part, "wb", opener=private) as file:
        file.write(content)
        file.flush()
        os.fdatasync(file.fileno())
    part.replace(path)
    settle(path.parent)


def settle(folder: Path) -> None:
    """Get the folder's own entries onto the disk. Raises: OSError."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
