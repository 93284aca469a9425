"""Looks through the objects of one push, each once, as git gives them out. In the looker's process."""

import subprocess
import tempfile
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from functools import lru_cache
from io import BufferedReader
from pathlib import Path
from typing import IO, cast

from entrance.git.checks.facts import Commit, ObjectKind, PackObject, Pointer, Sighting
from entrance.git.checks.scanners import Scan
from entrance.git.quarantine.commits import commit_of
from entrance.git.quarantine.frames import Job, Result
from entrance.git.quarantine.git_child import Place, environment
from entrance.git.quarantine.pack_index import IndexBrokenError, entries_of
from entrance.honeytokens.canaries import Canary
from entrance.honeytokens.traps import Traps

PIECE_BYTES = 1 << 18
STEP_OBJECTS = 500
STEP_BYTES = 1 << 20
MOST_SIGHTINGS = 1000
MOST_COMMIT_BYTES = 32 << 20
"""All commits together; none is that long whose author meant it to be read."""
_BETWEEN = b"\n"
"""Stands between objects: no escape at the end of one swallows the beginning of the next."""
_KINDS = frozenset({"commit", "tree", "blob", "tag"})


class TroubleError(Exception):
    """The objects can't be looked at. The message is a sentence for the agent."""


class Look:
    """One job."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._traps = _traps_of(job.canaries).stream()
        self._pending = bytearray()
        self._canary = ""
        self._left = job.most_bytes
        self._left_commits = MOST_COMMIT_BYTES
        self._objects: list[PackObject] = []
        self._kinds: dict[str, str] = {}
        self._commits: list[Commit] = []
        self._sightings: list[Sighting] = []
        self._pointers: list[Pointer] = []

    def steps(self) -> Generator[None, None, Result]:
        """Some work at a time; the result at the end. Raises: TroubleError."""
        with _given(self._wanted()) as given, _cat_file(self._job, given) as git:
            out = cast(BufferedReader, git.stdout)
            try:
                yield from self._read(out)
                if git.wait(30) != 0:
                    raise TroubleError("git could not read all of the pack")
            finally:
                git.kill()
        self._look(b"", last=True)
        return Result(
            self._job.id,
            canary=self._canary,
            objects=tuple(self._objects),
            kinds=self._kinds,
            commits=tuple(self._commits),
            sightings=tuple(self._sightings[:MOST_SIGHTINGS]),
            pointers=tuple(self._pointers),
        )

    def _wanted(self) -> Iterator[str]:
        job = self._job
        try:
            index = Path(job.index).read_bytes() if job.index else b""
            entries = entries_of(index, job.oid_bytes)[: job.count] if job.index else []
        except (OSError, IndexBrokenError) as error:
            raise TroubleError("the pack's index can't be read") from error
        yield from (entry.oid for entry in entries)
        yield from job.oids
        yield from job.tips

    def _read(self, out: BufferedReader) -> Iterator[None]:
        whole = self._job.count + len(self._job.oids)
        seen, read = 0, 0
        while line := out.readline():
            oid, _, rest = line.decode("ascii").strip().partition(" ")
            kind, _, size = rest.partition(" ")
            if kind not in _KINDS:
                if seen < whole:
                    raise TroubleError("git could not read all of the pack")
                continue
            if seen < whole:
                self._take(oid, cast(ObjectKind, kind), int(size), out)
            else:
                self._kinds[oid] = kind
                _skip(out, int(size))
            seen += 1
            read += int(size)
            if seen % STEP_OBJECTS == 0 or read > STEP_BYTES:
                read = 0
                yield
        if seen < whole:
            raise TroubleError("git could not read all of the pack")

    def _take(self, oid: str, kind: ObjectKind, size: int, out: BufferedReader) -> None:
        self._left -= size
        if self._left < 0:
            raise TroubleError(
                f"unpacked, it is over {self._job.most_bytes} bytes; push less at once"
            )
        self._objects.append(PackObject(oid, kind, size))
        self._kinds[oid] = kind
        if kind == "tree":
            for piece in _pieces(out, size):
                self._look(piece)
        else:
            self._scan(oid, kind, size, out)
        self._look(_BETWEEN)

    def _scan(self, oid: str, kind: ObjectKind, size: int, out: BufferedReader) -> None:
        scan, whole = Scan(oid, kind, size), bytearray()
        if kind == "commit":
            self._left_commits -= size
            if self._left_commits < 0:
                raise TroubleError("its commits' messages are too long")
        for piece in _pieces(out, size):
            self._look(piece)
            scan.feed(piece)
            if kind == "commit":
                whole += piece
        seen = scan.seen()
        self._sightings += seen.sightings
        self._pointers += [seen.pointer] if seen.pointer else []
        if kind == "commit":
            self._commits.append(commit_of(oid, bytes(whole)))

    def _look(self, data: bytes, *, last: bool = False) -> None:
        """Look for honeytokens, in pieces that are worth the call."""
        self._pending += data
        if last or len(self._pending) >= PIECE_BYTES:
            found = self._traps.feed(bytes(self._pending), last=last)
            self._canary = self._canary or (found.name if found else "")
            self._pending.clear()


@lru_cache(maxsize=64)
def _traps_of(canaries: tuple[tuple[str, str], ...]) -> Traps:
    return Traps(Canary(name, "", "", secret) for name, secret in canaries)


@contextmanager
def _given(oids: Iterator[str]) -> Iterator[IO[bytes]]:
    """What git is asked for, in a file without a name: nobody has to feed it while it is read."""
    with tempfile.TemporaryFile() as file:
        for oid in oids:
            file.write(oid.encode("ascii") + b"\n")
        file.seek(0)
        yield file


def _cat_file(job: Job, given: IO[bytes]) -> "subprocess.Popen[bytes]":
    place = Place(Path(job.repository), Path(job.objects) if job.objects else None)
    return subprocess.Popen(
        ["git", "cat-file", "--batch", "--buffer"],
        env=environment(place),
        cwd="/",
        stdin=given,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        bufsize=PIECE_BYTES,
    )


def _pieces(out: BufferedReader, size: int) -> Iterator[bytes]:
    """An object's bytes. Raises: TroubleError when they break off."""
    left = size
    while left:
        piece = out.read(min(left, PIECE_BYTES))
        if not piece:
            raise TroubleError("git could not read all of the pack")
        left -= len(piece)
        yield piece
    out.read(1)


def _skip(out: BufferedReader, size: int) -> None:
    for _ in _pieces(out, size):
        pass
