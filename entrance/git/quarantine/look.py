"""Looks through objects, each once, as git gives them out: for honeytokens, secrets, LFS pointers."""

from collections import deque
from collections.abc import Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import lru_cache
from io import BufferedReader
from typing import cast

from entrance.git.checks.facts import Commit, ObjectKind, PackObject, Pointer, Sighting
from entrance.git.checks.scanners.scan import Scan, Seen
from entrance.git.checks.secret_kinds import LIKELY
from entrance.git.quarantine.children import Children, TroubleError, Wait
from entrance.git.quarantine.commits import CommitBrokenError, commit_of
from entrance.git.quarantine.literals import literals
from entrance.honeytokens.canaries import Canary
from entrance.honeytokens.traps import Traps

PIECE_BYTES = 1 << 18
MOST_PIECES = 4
"""So many wait to be looked through for honeytokens."""
STEP_OBJECTS = 500
STEP_BYTES = 1 << 20
MOST_SIGHTINGS = 1000
MOST_COMMIT_BYTES = 32 << 20
"""All commits together; none is that long whose author meant it to be read."""
_BETWEEN = b"\n"
"""Stands between objects: no escape at the end of one swallows the beginning of the next."""
_KINDS = frozenset({"commit", "tree", "blob", "tag"})
_UNREADABLE = "git could not read all of the push"


class Look:
    """What was seen in all the objects that were looked through. `most_bytes`: of them together."""

    def __init__(self, canaries: tuple[tuple[str, str], ...], most_bytes: int) -> None:
        self._traps = _traps_of(canaries).stream()
        self._pending = bytearray()
        self._beside = ThreadPoolExecutor(1)
        """Looks for honeytokens while secrets are looked for: each holds the interpreter half the time."""
        self._looking: deque[Future[Canary | None]] = deque()
        self.most_bytes = self._left = most_bytes
        self._left_commits = MOST_COMMIT_BYTES
        self.canary = ""
        self.objects: list[PackObject] = []
        self.kinds: dict[str, str] = {}
        self.commits: dict[str, Commit] = {}
        self.seen: dict[str, Seen] = {}
        """Of objects in which there is something."""

    def through(self, git: Children, oids: Sequence[str], tips: Iterable[str] = ()) -> Wait:
        """Look through objects; of `tips` only the kind is taken. Raises: TroubleError."""
        asked = (*oids, *tips)
        process = git.stream(["cat-file", "--batch", "--buffer"], asked)
        out = cast(BufferedReader, process.stdout)
        seen, read = 0, 0
        while line := out.readline():
            oid, _, rest = line.decode("ascii", "replace").strip().partition(" ")
            kind, _, size = rest.partition(" ")
            seen += 1
            if kind in _KINDS:
                take = self._take if seen <= len(oids) else self._pass_over
                take(oid, cast(ObjectKind, kind), int(size), out)
                read += int(size)
            elif seen <= len(oids):
                raise TroubleError(_UNREADABLE, broken=True)
            if seen % STEP_OBJECTS == 0 or read > STEP_BYTES:
                read = 0
                yield None
        self._look(b"", last=True)
        if seen < len(asked) or process.wait() != 0:
            raise TroubleError(_UNREADABLE, broken=True)

    @property
    def sightings(self) -> tuple[Sighting, ...]:
        """So many as may be told, those first that can hardly be anything else."""
        every = (sighting for seen in self.seen.values() for sighting in seen.sightings)
        return tuple(sorted(every, key=lambda one: one.what in LIKELY))[:MOST_SIGHTINGS]

    @property
    def pointers(self) -> Iterator[Pointer]:
        return (seen.pointer for seen in self.seen.values() if seen.pointer)

    def _pass_over(self, oid: str, kind: ObjectKind, size: int, out: BufferedReader) -> None:
        self.kinds[oid] = kind
        for _ in _pieces(out, size):
            pass

    def _take(self, oid: str, kind: ObjectKind, size: int, out: BufferedReader) -> None:
        self._left -= size
        if self._left < 0:
            raise TroubleError(
                f"unpacked, it is over {self.most_bytes} bytes; push in smaller steps"
            )
        self.objects.append(PackObject(oid, kind, size))
        self.kinds[oid] = kind
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
        if seen.sightings or seen.pointer:
            self.seen[oid] = seen
        if kind == "commit":
            self.commits[oid] = _commit(oid, bytes(whole))

    def _look(self, data: bytes, *, last: bool = False) -> None:
        """Look for honeytokens, in pieces that are worth the call."""
        self._pending += data
        if last or len(self._pending) >= PIECE_BYTES:
            piece = bytes(self._pending)
            self._looking.append(self._beside.submit(self._traps.feed, piece, last=last))
            self._pending.clear()
        while self._looking and (last or len(self._looking) > MOST_PIECES):
            found = self._looking.popleft().result()
            self.canary = self.canary or (found.name if found else "")


def _commit(oid: str, raw: bytes) -> Commit:
    """Raises: TroubleError."""
    try:
        return commit_of(oid, raw)
    except CommitBrokenError as error:
        raise TroubleError(str(error)) from error


@lru_cache(maxsize=64)
def _traps_of(canaries: tuple[tuple[str, str], ...]) -> Traps:
    return Traps((Canary(name, "", "", secret) for name, secret in canaries), literals)


def _pieces(out: BufferedReader, size: int) -> Generator[bytes]:
    """An object's bytes. Raises: TroubleError when they break off."""
    left = size
    while left:
        piece = out.read(min(left, PIECE_BYTES))
        if not piece:
            raise TroubleError(_UNREADABLE, broken=True)
        left -= len(piece)
        yield piece
    out.read(1)
