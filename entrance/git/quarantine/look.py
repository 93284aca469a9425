"""Looks through the objects of one push, each once, as git gives them out. In the looker's process."""

from collections.abc import Generator, Iterable, Iterator
from functools import lru_cache
from io import BufferedReader
from pathlib import Path
from typing import cast

from entrance.git.checks.facts import Commit, ObjectKind, PackObject, Pointer, Sighting
from entrance.git.checks.scanners.scan import Scan
from entrance.git.checks.secret_kinds import LIKELY
from entrance.git.quarantine.commits import commit_of
from entrance.git.quarantine.frames import MOST_SIGHTINGS, Job, Result
from entrance.git.quarantine.objects import PIECE_BYTES, TroubleError, cat_file, given, pieces, skip
from entrance.git.quarantine.pack_index import IndexBrokenError, entries_of
from entrance.honeytokens.canaries import Canary
from entrance.honeytokens.traps import Traps

STEP_OBJECTS = 500
STEP_BYTES = 1 << 20
MOST_COMMIT_BYTES = 32 << 20
"""All commits together; none is that long whose author meant it to be read."""
_BETWEEN = b"\n"
"""Stands between objects: no escape at the end of one swallows the beginning of the next."""
_KINDS = frozenset({"commit", "tree", "blob", "tag"})


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
        with given(self._wanted()) as wanted, cat_file(self._job, wanted) as git:
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
            sightings=_first(self._sightings),
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
                skip(out, int(size))
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
            for piece in pieces(out, size):
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
        for piece in pieces(out, size):
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


def _first(sightings: Iterable[Sighting]) -> tuple[Sighting, ...]:
    """So many as may be told, those first that can hardly be anything else."""
    return tuple(sorted(sightings, key=lambda one: one.what in LIKELY))[:MOST_SIGHTINGS]


@lru_cache(maxsize=64)
def _traps_of(canaries: tuple[tuple[str, str], ...]) -> Traps:
    return Traps(Canary(name, "", "", secret) for name, secret in canaries)
