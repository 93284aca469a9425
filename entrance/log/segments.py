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
from entrance.log.line import Head
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


@dataclass(frozen=True, slots=True)
class End:
    """Where the open segment ends: the chain's head there, and its length in bytes."""

    head: Head
    size: int


class Segments:
    """The log in `folder`, written by one process at a time, in one thread. Others may `vouch`.

    What is written counts once `keep` was told that it is on the disk.
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
        self.end = End(place.facts.end, place.facts.bytes)
        """The end of what was written."""
        self._kept = place.facts
        self._due = datetime.fromisoformat(place.facts.opened_at) + self._rules.segment_age

    @property
    def kept(self) -> Facts:
        """The open segment, as far as it is known to be on the disk."""
        return self._kept

    @property
    def handle(self) -> int:
        """The open segment's file. Raises: OSError."""
        return self._file.handle

    @property
    def full(self) -> bool:
        """Whether the open segment is to be sealed before more is written."""
        if self.end.head.seq < self._begun.first_seq:
            return False
        return self.end.size >= self._rules.segment_bytes or self._now() >= self._due

    def write(self, fields: Mapping[str, Any]) -> End:
        """Write a line; the end with it. Raises: OSError, TypeError; then the line is not there."""
        at = self._now().isoformat()
        if self.end.head.seq < self._begun.first_seq:
            self._begin(at)
        if self._torn and not self._torn_at:
            self._torn_at = self._line(at, self._torn).head.seq
        return self._line(at, fields)

    def keep(self, end: End) -> None:
        """All up to there is on the disk."""
        self._file.looked_at = False
        torn = self._begun.torn + (0 < self._torn_at <= end.head.seq)
        self._kept = replace(self._begun.grown(end.head, end.size), torn=torn)

    def lose(self) -> None:
        """What isn't kept is taken away again: the disk has lost it."""
        self.end = End(self._kept.end, self._kept.bytes)
        self._torn_at = self._torn_at if self._torn_at <= self.end.head.seq else 0
        self._file.looked_at = False
        self._file.cut(self.end.size)

    def turn(self) -> None:
        """Seal the open segment, of which everything is kept, and go on with the next. Raises: OSError."""
        self._file.check(self._kept.bytes)  # what isn't ours any more gets no seal
        now = self._now()
        seal = sealed(self._kept, now.isoformat())
        put(self.shelf.seal(self._kept.segment), seal.signed(self._signer))
        self._enter(following(self._kept, self._kept.installation, now))

    def vouch(self) -> None:
        """Sign where the open segment ends now, if that is new. In any thread. Raises: OSError."""
        with self._vouching:
            facts = self._kept
            if facts != self._vouched:
                signed = checkpoint(facts, self._now().isoformat()).signed(self._signer)
                put(self.shelf.head, signed)
                self._vouched = facts

    def drop(self) -> None:
        """Let sealed segments go that are kept no longer. In any thread. Raises: OSError."""
        drop(self.shelf, self._signer, self._rules.keep, self._now())

    def check(self) -> None:
        """The open segment can be written to, and is as we left it. Raises: OSError."""
        if self.end.size or self._file.path.exists():
            self._file.check(self.end.size)

    def close(self) -> None:
        """Another may write from now on. Idempotent."""
        self._close()

    def _begin(self, at: str) -> None:
        """The segment's first line. It is vouched for before it is there: it can't go unnoticed."""
        self._begun = self._kept = replace(self._begun, opened_at=at)
        self._due = datetime.fromisoformat(at) + self._rules.segment_age
        self.vouch()
        self._file.check(0)
        settle(self.shelf.folder)
        facts = self._begun
        begun = {"segment": facts.segment, "installation": facts.installation}
        self._line(at, {"type": "opened", **begun, "prev": facts.prev})

    def _line(self, at: str, fields: Mapping[str, Any]) -> End:
        raw, head = self.end.head.line(at, fields)
        self._file.write(raw, self.end.size)
        self.end = End(head, self.end.size + len(raw))
        return self.end


def _locked(path: Path) -> int:
    handle = private(str(path), os.O_RDWR | os.O_CREAT)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        os.close(handle)
        raise Conflict(f"another process writes the egress log {path.parent}") from error
    return handle
