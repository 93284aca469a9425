"""A log's segments, one after the other: the open one is written to, sealed when full, and followed."""

import fcntl
import os
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from weakref import finalize

from entrance.errors import Conflict
from entrance.log.line import End
from entrance.log.recovery import Place, following, recovered
from entrance.log.retention import Keep, drop
from entrance.log.seal import Facts, checkpoint, sealed
from entrance.log.segment import Segment
from entrance.log.shelf import Shelf, private, put, settle
from entrance.log.signing import Signer

SEGMENT_BYTES = 64 << 20
SEGMENT_AGE = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Rules:
    """When a segment is full, and how long full ones are kept."""

    segment_bytes: int = SEGMENT_BYTES
    segment_age: timedelta = SEGMENT_AGE
    keep: Keep = field(default_factory=Keep)


class Segments:
    """The log in `folder`, written by one process at a time, in one thread. Others may `vouch`.

    What is added is in the file with `flush`, and counts once `keep` was told that it is on the disk.
    Raises, when opened: OSError; Conflict when another process writes it; Malformed when it isn't
    as its last writer left it.
    """

    def __init__(
        self,
        folder: Path,
        signer: Signer,
        now: Callable[[], datetime],
        *,
        installation: str = "",
        rules: Rules | None = None,
    ) -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.shelf = Shelf(folder)
        self.trust = signer.trust
        self._signer = signer
        self._now = now
        self._rules = rules or Rules()
        self._vouching = threading.Lock()
        self._vouched: Facts | None = None
        self._close = finalize(self, os.close, _locked(self.shelf.lock))
        self._enter(recovered(self.shelf, self.trust, installation, now()))

    def _enter(self, place: Place) -> None:
        self._begun = place.facts
        """The open segment as it was found, or before its first line."""
        self._torn, self._torn_at = place.torn, 0
        """What a crash tore, and the number of the line that tells of it."""
        self._file = Segment(self.shelf.segment(place.facts.segment))
        self._added: list[bytes] = []
        """The lines that are not in the file yet."""
        self.in_file = End(place.facts.end, place.facts.bytes)
        """The end of what is in the file."""
        self._head, self._size = self.in_file
        """The end of the chain: of what was added, too."""
        self._keeping = (place.facts, self.in_file, place.facts.torn)
        """What `kept` is made of, as it is written far more often than it is asked for."""
        self._due = datetime.fromisoformat(place.facts.opened_at) + self._rules.segment_age

    @property
    def kept(self) -> Facts:
        """The open segment, as far as it is known to be on the disk. In any thread."""
        begun, end, torn = self._keeping
        return replace(begun.grown(end.head, end.size), torn=torn)

    @property
    def handle(self) -> int:
        """The open segment's file. Raises: OSError."""
        return self._file.handle

    def full(self, now: datetime) -> bool:
        """Whether the open segment is to be sealed before more is written."""
        if self._head.seq < self._begun.first_seq:
            return False
        return self._size >= self._rules.segment_bytes or now >= self._due

    def add(self, at: datetime, fields: Mapping[str, Any]) -> int:
        """Tie a line to the chain; its number. Raises: OSError, TypeError; then it is not there."""
        if self._head.seq < self._begun.first_seq:
            self._begin(at)
        if self._torn and not self._torn_at:
            self._torn_at = self._line(at, self._torn)
        return self._line(at, fields)

    def flush(self) -> None:
        """Write to the file what was added. Raises: OSError; then none of it is there any more."""
        if not self._added:
            return
        try:
            self._file.write(b"".join(self._added), self.in_file.size)
        except OSError:
            self._go_back_to(self.in_file)
            raise
        self._added.clear()
        self.in_file = End(self._head, self._size)

    def keep(self, end: End) -> None:
        """All up to there is on the disk."""
        self._file.looked_at = False
        torn = self._begun.torn + (0 < self._torn_at <= end.head.seq)
        self._keeping = (self._begun, end, torn)

    def lose(self) -> None:
        """What isn't kept is taken away again: the disk has lost it."""
        _, kept, _ = self._keeping
        self._go_back_to(kept)
        self._file.looked_at = False
        self._file.cut(kept.size)

    def turn(self, now: datetime) -> None:
        """Seal the open segment, of which everything is kept, and go on with the next. Raises: OSError."""
        kept = self.kept
        self._file.check(kept.bytes)  # what isn't ours any more gets no seal
        put(self.shelf.seal(kept.segment), sealed(kept, now.isoformat()).signed(self._signer))
        self._enter(following(kept, kept.installation, now))

    def vouch(self) -> None:
        """Sign where the open segment ends now, if that is new. In any thread. Raises: OSError."""
        with self._vouching:
            facts = self.kept
            if facts != self._vouched:
                signed = checkpoint(facts, self._now().isoformat()).signed(self._signer)
                put(self.shelf.head, signed)
                self._vouched = facts

    def drop(self) -> None:
        """Let sealed segments go that are kept no longer. In any thread. Raises: OSError."""
        drop(self.shelf, self._signer, self._rules.keep, self._now())

    def check(self) -> None:
        """The open segment can be written to, and is as we left it. Raises: OSError."""
        if self.in_file.size or self._file.path.exists():
            self._file.check(self.in_file.size)

    def close(self) -> None:
        """Another may write from now on. Idempotent."""
        self._close()

    def _begin(self, at: datetime) -> None:
        """The segment's first line. It is vouched for before it is there: it can't go unnoticed."""
        self._begun = replace(self._begun, opened_at=at.isoformat())
        self._keeping = (self._begun, self.in_file, self._begun.torn)
        self._due = at + self._rules.segment_age
        self.vouch()
        self._file.check(0)
        settle(self.shelf.folder)
        facts = self._begun
        begun = {"segment": facts.segment, "installation": facts.installation}
        self._line(at, {"type": "opened", **begun, "prev": facts.prev})

    def _line(self, at: datetime, fields: Mapping[str, Any]) -> int:
        raw, self._head = self._head.line(at, fields)
        self._size += len(raw)
        self._added.append(raw)
        return self._head.seq

    def _go_back_to(self, end: End) -> None:
        """What was added after it never was."""
        self.in_file = end
        self._head, self._size = end
        self._added.clear()
        self._torn_at = self._torn_at if self._torn_at <= end.head.seq else 0


def _locked(path: Path) -> int:
    handle = private(str(path), os.O_RDWR | os.O_CREAT)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        os.close(handle)
        raise Conflict(f"another process writes the egress log {path.parent}") from error
    return handle
