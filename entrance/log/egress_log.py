"""The log as the doors have it: `Audit`, with what is added to each record on the way to the disk."""

import asyncio
import os
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import orjson
import structlog

from entrance.decision import Allow
from entrance.disk import Disk, LoopDisk
from entrance.errors import Unavailable
from entrance.log.chain_check import look
from entrance.log.checkpoints import Checkpoints
from entrance.log.decisions import Open, OpenDecisions
from entrance.log.fields import of_decision, of_outcome
from entrance.log.handed_in import HandedIn
from entrance.log.records import Decided, Door, Outcome
from entrance.log.seal import Facts
from entrance.log.segments import Rules, Segments
from entrance.log.signing import Signer
from entrance.log.vouched import vouched
from entrance.log.writer import Writer
from entrance.ports import Cause, Causes
from entrance.session import RunId

log = structlog.get_logger()

_MS = timedelta(milliseconds=1)
RESTORED_BYTES = 8 << 20
"""So much of the log's end is looked through at the start: for what is open, or may be told again."""


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
            self._open, self._handed_in = _as_it_was_left(self._segments)
        except OSError as error:
            raise Unavailable(f"the egress log {folder} can't be opened: {error}") from error
        self._checkpoints = Checkpoints(self._segments)
        self._writer = Writer(self._segments, disk or LoopDisk(), self._checkpoints.due)
        self._causes = causes
        self._now = now

    async def decided(self, record: Decided) -> int:
        """The record's number, once it is on the disk. Raises: Unavailable."""
        number = self.deciding(record)
        self._hurry(number)
        return await number

    async def kept(self, number: "asyncio.Future[int]") -> int:
        """The same for what is decided already; see `Audit`."""
        self._hurry(number)
        return number.result() if number.done() else await asyncio.shield(number)

    def deciding(self, record: Decided) -> "asyncio.Future[int]":
        """The same for who has more to do meanwhile. One that has a key is recorded once."""
        known = self._handed_in.find(record.key)
        if known is not None:
            return known
        cause, now = self._cause(record), self._now()
        began = None
        if isinstance(record.decision, Allow):
            told = bool(cause and cause.tool)
            decision = Open(record.decided_at, now, record.of_run or "", told)
            began = partial(self._open.begin, decision)
        number = self._writer.append(
            now, of_decision(record, cause), alone=self._open.quiet(now), kept=began
        )
        self._handed_in.keep(record.key, number)
        return number

    async def came_of_it(self, record: Outcome) -> None:
        """Record what came of a decision. Raises: Unavailable."""
        await self.ending(record)

    async def ended(self, record: Outcome) -> None:
        """The same, but for the wait for the disk. Raises: Unavailable when it can't be written."""
        number = self.ending(record, waited_for=False)
        if number.done():
            number.result()
        else:
            number.add_done_callback(partial(_kept, record.of))

    def ending(self, record: Outcome, *, waited_for: bool = True) -> "asyncio.Future[int]":
        """Begin to record what came of a decision, once; the outcome's number when that is done."""
        number = self._handed_in.find(record.of)
        if number is None:
            now = self._now()
            number = self._writer.append(now, self._ended(record, now), waited_for=waited_for)
            self._handed_in.keep(record.of, number)
        return number

    def may_end(self, seq: int, door: Door) -> bool:
        """Whether a decision is open, and this door's: only then may it say what came of it.

        It may say it again, too: that is recorded once.
        """
        return seq in self._handed_in or self._open.may_end(seq, door)

    @property
    def newest(self) -> Facts:
        """The newest segment, as far as it is on the disk."""
        return self._segments.kept

    async def check(self) -> str:
        """How it is, in words. Raises: Unavailable."""
        try:
            self._segments.check()
            return await asyncio.to_thread(self._check, self._segments.kept)
        except OSError as error:
            raise Unavailable(f"the egress log can't be relied on: {error}") from error

    async def close(self) -> None:
        """Vouch for all that was written. Nothing may be recorded any more."""
        await self._writer.settled()
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

    def _hurry(self, number: "asyncio.Future[int]") -> None:
        """Have the loop itself wait, as far as that holds up nobody else and takes no time."""
        if not number.done() and self._open.quiet(self._now()):
            self._writer.hurry()

    def _ended(self, record: Outcome, now: datetime) -> dict[str, Any]:
        """An outcome's fields, with what is known of its decision, which is over."""
        known = self._open.end(record.of)
        if known is None:
            return of_outcome(record)
        ms = round((now - known.at) / _MS)
        cause = None if known.told or not known.run else self._open_in(RunId(known.run))
        late = cause if cause and cause.tool else None
        return of_outcome(record, known.run, late, ms)


def _kept(of: int, number: "asyncio.Future[int]") -> None:
    """Nobody waits for it any more: a disk that fails is told of here."""
    if not number.cancelled() and (error := number.exception()) is not None:
        log.error("outcome_lost", of=of, error=str(error))


def _as_it_was_left(segments: Segments) -> tuple[OpenDecisions, HandedIn]:
    """What is open at the end of the log, and what of its end may be told again."""
    lines = [orjson.loads(raw) for raw in _last_lines(segments)]
    older = lines[0]["seq"] - 1 if lines else segments.kept.end.seq
    decisions, handed_in = OpenDecisions(older), HandedIn()
    for line in lines:
        decisions.restore(line)
        handed_in.restore(line)
    return decisions, handed_in


def _last_lines(segments: Segments) -> list[bytes]:
    """The whole lines at the end of the log, also those of segments that are full, oldest first."""
    shelf, kept, left = segments.shelf, segments.kept, RESTORED_BYTES
    found: list[bytes] = []
    for number in reversed(shelf.segments()):
        with shelf.segment(number).open("rb") as file:
            size = kept.bytes if number == kept.segment else file.seek(0, os.SEEK_END)
            start = max(0, size - left)
            file.seek(start)
            lines = file.read(size - start).split(b"\n")
        found[:0] = lines[1 if start else 0 : -1]
        left -= size - start
        if left <= 0:
            break
    return found
