"""The log as the doors have it: `Audit`, with what is added to each record on the way to the disk."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path

from entrance.decision import Allow
from entrance.disk import Disk, DiskThread
from entrance.errors import Unavailable
from entrance.log.chain_check import look
from entrance.log.checkpoints import Checkpoints
from entrance.log.decisions import Open, OpenDecisions
from entrance.log.fields import of_decision, of_outcome
from entrance.log.records import Decided, Door, Outcome
from entrance.log.seal import Facts
from entrance.log.segments import Rules, Segments
from entrance.log.signing import Signer
from entrance.log.vouched import vouched
from entrance.log.writer import Writer
from entrance.ports import Cause, Causes
from entrance.session import RunId

RESTORED_BYTES = 8 << 20
"""So much of the open segment is looked through for decisions that are open after a restart."""


class EgressLog:
    """Records decisions and outcomes, of all doors, in one chain (see `fields`). `Audit` for doors.

    What a run had open is added to each decision, and to an outcome when only by then it is known
    which tool call it was.
    Raises, when opened: Unavailable when it can't be opened; Malformed when it was changed; Conflict
    when another process writes it.
    """

    def __init__(
        self,
        folder: Path,
        signer: Signer,
        now: Callable[[], datetime],
        *,
        installation: str = "",
        rules: Rules | None = None,
        causes: Causes | None = None,
        disk: Disk | None = None,
    ) -> None:
        try:
            self._segments = Segments(folder, signer, now, installation=installation, rules=rules)
            self._open = OpenDecisions(self._segments.kept.end.seq)
            self._open.restore(_last_lines(self._segments))
        except OSError as error:
            raise Unavailable(f"the egress log {folder} can't be opened: {error}") from error
        self._checkpoints = Checkpoints(self._segments)
        self._writer = Writer(self._segments, disk or DiskThread(), self._checkpoints.due)
        self._causes = causes
        self._now = now

    async def decided(self, record: Decided) -> int:
        """The record's number, once it is on the disk. Raises: Unavailable."""
        return await self.deciding(record)

    def deciding(self, record: Decided) -> "asyncio.Future[int]":
        """The same for who has more to do meanwhile."""
        cause = self._cause(record)
        number = self._writer.append(of_decision(record, cause))
        if isinstance(record.decision, Allow):
            began = Open(
                record.decided_at, self._now(), record.of_run or "", bool(cause and cause.tool)
            )
            number.add_done_callback(partial(self._began, began))
        return number

    async def came_of_it(self, record: Outcome) -> None:
        """Record what came of a decision. Raises: Unavailable."""
        await self.ending(record)

    def ending(self, record: Outcome) -> "asyncio.Future[int]":
        """Begin to record what came of a decision; the outcome's number once that is done."""
        known = self._open.end(record.of)
        if known is None:
            return self._writer.append(of_outcome(record))
        ms = round((self._now() - known.at) / timedelta(milliseconds=1))
        cause = None if known.told or not known.run else self._open_in(RunId(known.run))
        late = cause if cause and cause.tool else None
        return self._writer.append(of_outcome(record, known.run, late, ms))

    def may_end(self, seq: int, door: Door) -> bool:
        """Whether a decision is open, and this door's: only then may it say what came of it."""
        return self._open.may_end(seq, door)

    async def check(self) -> str:
        """How it is, in words. Raises: Unavailable."""
        try:
            self._segments.check()
            return await asyncio.to_thread(self._check, self._segments.kept)
        except OSError as error:
            raise Unavailable(f"the egress log can't be relied on: {error}") from error

    async def close(self) -> None:
        """Vouch for all that was written. Nothing may be recorded any more."""
        await asyncio.to_thread(self._close)

    def _check(self, facts: Facts) -> str:
        """The open segment's lines, and what is signed of the others; `verify` looks at all lines."""
        signed = vouched(self._segments.shelf, self._segments.trust)
        finding = signed.finding
        if facts.records and finding is None:
            path = self._segments.shelf.segment(facts.segment)
            finding = look(path, facts, sealed=False).finding
        if finding is not None:
            raise Unavailable(f"the egress log can't be relied on: {finding}")
        return f"{facts.end.seq} records, an unbroken chain"

    def _close(self) -> None:
        self._checkpoints.close()
        with suppress(OSError):  # a full disk: the checkpoint before vouches for less
            self._segments.vouch()
        self._segments.close()

    def _cause(self, record: Decided) -> Cause | None:
        """What the attempt says itself goes before what the run has open."""
        known = self._open_in(record.of_run) if record.of_run else None
        own = record.cause
        if own is None or known is None:
            return own or known
        return Cause(known.step, own.tool, own.call, own.since or known.since)

    def _open_in(self, run: RunId) -> Cause | None:
        return self._causes.of(run) if self._causes else None

    def _began(self, decision: Open, number: "asyncio.Future[int]") -> None:
        if not number.cancelled() and number.exception() is None:
            self._open.begin(number.result(), decision)


def _last_lines(segments: Segments) -> list[bytes]:
    """The whole lines at the end of the open segment."""
    facts = segments.kept
    if not facts.records:
        return []
    with segments.shelf.segment(facts.segment).open("rb") as file:
        start = max(0, facts.bytes - RESTORED_BYTES)
        file.seek(start)
        lines = file.read(facts.bytes - start).split(b"\n")
    return lines[1 if start else 0 : -1]
