"""The loop of an export: read on, send, keep how far it got.

Where a batch ends is kept before it is sent. So after a crash the very same batch is sent again, under
the same name, and nothing else is sent twice; and what is kept afterwards is never ahead of the target.
"""

import time
from collections import OrderedDict
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import stamina

from entrance.errors import Malformed, Unavailable
from orchestrator.egress.filters import Filter
from orchestrator.egress.ocsf import Origin
from orchestrator.egress.reader import Line, Reader, find, vouched
from orchestrator.egress.sending.cursor import Cursor, CursorFile
from orchestrator.egress.sending.messages import Format, Message, message
from orchestrator.egress.sending.targets import Target

BATCH_BYTES = 256 << 10
REMEMBERED = 20_000
"""So many of the newest decisions are kept in mind for their outcomes; older ones are looked up."""
POLL_S = 1.0
PATIENCE_S = 60.0
LONGEST_PAUSE_S = 60.0


@dataclass(frozen=True, slots=True)
class Summary:
    """What was sent: so many records, from which to which. `lost`: some were gone before their turn."""

    sent: int = 0
    first: int = 0
    last: int = 0
    lost: bool = False

    def with_batch(self, batch: Sequence[Message], *, lost: bool) -> "Summary":
        """The same with one more batch."""
        if not batch:
            return replace(self, lost=lost)
        return Summary(self.sent + len(batch), self.first or batch[0].seq, batch[-1].seq, lost)


@dataclass
class Export:
    """Sends the log in `folder` to one target.

    Only lines that a checkpoint vouches for are sent: others may be torn off by a crash of the machine.
    """

    folder: Path
    target: Target
    cursor: CursorFile
    origin: Origin
    form: Format = "ocsf"
    wanted: Filter = field(default_factory=Filter)
    batch_bytes: int = BATCH_BYTES
    patience_s: float | None = PATIENCE_S
    """So long a target that is away is tried again; None: for ever."""
    told: Callable[[str], None] = lambda _sentence: None
    """Hears of every try that failed."""
    summary: Summary = field(init=False, default=Summary())
    _at: Cursor = field(init=False, default_factory=Cursor)
    _decisions: OrderedDict[int, Mapping[str, Any]] = field(init=False, default_factory=OrderedDict)

    def run(self, *, follow: bool = False) -> Generator[Summary]:
        """Send what is there, and with `follow` what comes; yields after each batch.

        Raises: Unavailable when the target stays away; Forbidden, Malformed; Conflict when another
        export uses the cursor.
        """
        with self.cursor.held():
            self._at = self._checked(self.cursor.read())
            reader = Reader(self.folder, self._at.place)
            mark = self.target.begin(self._at.mark)
            self._at = self._at.model_copy(update={"mark": mark})
            while True:
                while lines := self._batch(reader):
                    self._pass_on(lines, reader)
                    yield self.summary
                if not follow:
                    return
                time.sleep(POLL_S)

    def _pass_on(self, lines: Sequence[Line], reader: Reader) -> None:
        segment, offset = reader.place.segment, reader.place.offset
        self.cursor.keep(self._at.model_copy(update={"sending": (segment, offset)}))
        batch = [made for line in lines if (made := self._message(line))]
        self._at = Cursor(
            segment=segment,
            offset=offset,
            seq=lines[-1].seq,
            hash=_hash(lines[-1]),
            mark=self._send(batch) if batch else self._at.mark,
        )
        self.cursor.keep(self._at)
        self.summary = self.summary.with_batch(batch, lost=reader.gap)

    def _batch(self, reader: Reader) -> Sequence[Line]:
        """The next lines: those of the batch that was on its way, if there was one."""
        lines: list[Line] = []
        if until := self._at.until:
            while more := reader.read(before=until):
                lines += more
        return lines or reader.read(self.batch_bytes, before=vouched(self.folder))

    def _message(self, line: Line) -> Message | None:
        fields, decided = line.fields, None
        match fields.get("type"):
            case "decided":
                self._remember(line.seq, fields)
                if not self.wanted.fits(fields):
                    return None
            case "outcome":
                decided = self._decision(fields.get("of"))
                if self.wanted != Filter() and not (decided and self.wanted.fits(decided)):
                    return None
            case _ if self.wanted != Filter():
                return None
        return message(line, decided, self.origin, self.form)

    def _remember(self, seq: int, fields: Mapping[str, Any]) -> None:
        self._decisions[seq] = fields
        if len(self._decisions) > REMEMBERED:
            self._decisions.popitem(last=False)

    def _decision(self, seq: object) -> Mapping[str, Any] | None:
        if not isinstance(seq, int):
            return None
        if (known := self._decisions.get(seq)) is not None:
            return known
        found = find(self.folder, seq)
        return found.fields if found and found.fields.get("type") == "decided" else None

    def _send(self, batch: Sequence[Message]) -> str:
        name = f"{self.origin.installation}-{batch[0].seq}-{batch[-1].seq}"
        for attempt in stamina.retry_context(
            on=self._again, attempts=None, timeout=self.patience_s, wait_max=LONGEST_PAUSE_S
        ):
            with attempt:
                return self.target.send(batch, name)
        raise AssertionError("retrying ends by returning or raising")

    def _again(self, error: Exception) -> bool | float:
        if not isinstance(error, Unavailable):
            return False
        self.told(str(error))
        return True if error.retry_after_s is None else error.retry_after_s

    def _checked(self, cursor: Cursor) -> Cursor:
        """Whether the log is still the one that was sent from. Raises: Malformed."""
        last = find(self.folder, cursor.seq) if cursor.seq else None
        if last is not None and _hash(last) != cursor.hash:
            raise Malformed(
                f"record {cursor.seq} is not the one that was sent: this is another log, or it was "
                "changed; `sandgate egress verify` tells. --from-start sends all of it"
            )
        return cursor


def _hash(line: Line) -> str:
    return str(line.fields.get("hash", ""))
