"""Where attestations are kept: a file each, and an index of which speaks of which commit. Blocking.

<decision>-<digest>.json    one envelope; the name is made of the push, so that it is written once
index                       lines `<commit> <run> <file>`, only ever added to
"""

import fcntl
import mmap
import os
import re
from collections.abc import Collection, Iterator
from pathlib import Path

from entrance.log.shelf import private, put, settle

INDEX = "index"
NAME = re.compile(r"\d{10}-[0-9a-f]{16}\.json")


class Attestations:
    """The folder of an installation's attestations, which is made with the first."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def keep(self, name: str, envelope: bytes, run: str, commits: Collection[str]) -> bytes:
        """Keep it, on the disk when this returns; one that is there already stays, and is returned.

        Raises: OSError.
        """
        path = self._folder / name
        if not path.exists():
            if not self._folder.exists():
                self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                settle(self._folder.parent)
            put(path, envelope)
        # Again after a crash: that a commit is found twice does no harm.
        self._index("".join(f"{oid} {run} {name}\n" for oid in commits))
        return path.read_bytes()

    def get(self, name: str) -> bytes | None:
        """The one of this name; None when there is none. Raises: OSError."""
        path = self._folder / name
        return path.read_bytes() if NAME.fullmatch(name) and path.exists() else None

    def of_commit(self, oid: str) -> list[Path]:
        """Those that speak of a commit, oldest first. Raises: OSError."""
        return self._named(0, oid)

    def of_run(self, run: str) -> list[Path]:
        """Those of a run's pushes, oldest first. Raises: OSError."""
        return self._named(1, run)

    def _named(self, place: int, word: str) -> list[Path]:
        """The files of the lines that have this word in this place."""
        lines = (
            line.decode("utf-8", "replace").split(" ") for line in self._with(f"{word} ".encode())
        )
        names = {line[-1] for line in lines if line[place] == word}
        return [self._folder / name for name in sorted(names) if NAME.fullmatch(name)]

    def _with(self, mark: bytes) -> Iterator[bytes]:
        index = self._folder / INDEX
        if not index.exists() or not index.stat().st_size:
            return
        with index.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            end = data.rfind(b"\n") + 1
            at = data.find(mark, 0, end)
            while at >= 0:
                begin, after = data.rfind(b"\n", 0, at) + 1, data.find(b"\n", at)
                yield data[begin:after]
                at = data.find(mark, after, end)

    def _index(self, lines: str) -> None:
        with open(self._folder / INDEX, "a+b", buffering=0, opener=private) as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            size = os.fstat(file.fileno()).st_size
            torn = size and os.pread(file.fileno(), 1, size - 1) != b"\n"
            file.write((b"\n" if torn else b"") + lines.encode())
            os.fdatasync(file.fileno())
        settle(self._folder)
