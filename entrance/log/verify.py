"""Whether a log is whole: every line, every seal, every link between segments.

Nothing but the folder and the public key is needed, and nothing is written. What is wrong is told
by the first record that is, and its segment. A log that was put back as a whole, checkpoint and all,
to what it was earlier shows only against a head that was kept elsewhere: `Report.head` is there to be
kept.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context

from entrance.log.chain_check import Looked, look
from entrance.log.findings import Finding
from entrance.log.line import Head
from entrance.log.seal import Statement
from entrance.log.shelf import Shelf
from entrance.log.signing import Trust
from entrance.log.vouched import vouched

ALONE_BYTES = 64 << 20
"""A log up to this size is looked at by this process alone: others take longer to start."""


@dataclass(frozen=True, slots=True)
class Report:
    """What was looked at. `dropped`: what retention removed. `head`: the newest record that is whole."""

    segments: int
    records: int
    bytes: int
    torn: int
    """Torn tails that the log tells of, or will once it is written to again."""
    head: Head
    dropped: Sequence[Statement] = ()
    finding: Finding | None = None


def verify(
    shelf: Shelf,
    trust: Trust,
    processes: int = 1,
    told: Callable[[int, int], None] = lambda _done, _all: None,
) -> Report:
    """Look at the whole log, with so many processes.

    `told` hears how many of how many segments are done. Raises: OSError when it can't be read.
    """
    signed = vouched(shelf, trust)
    there = [one for one in signed.statements if one.type != "tombstone"]
    looked = list[Looked]()
    for done, one in enumerate(_looked(shelf, there, processes), start=1):
        looked += [one] if one else []
        told(done, len(there))
    found = [one.finding for one in looked if one.finding]
    found += [signed.finding] if signed.finding else []
    return Report(
        segments=len(looked),
        records=sum(one.records for one in looked),
        bytes=sum(one.bytes for one in looked),
        torn=sum(one.facts.torn for one in there) + sum(bool(one.unfinished) for one in looked),
        head=looked[-1].head if looked else Head(),
        dropped=[one for one in signed.statements if one.type == "tombstone"],
        finding=min(found, key=lambda finding: finding.segment, default=None),
    )


def _looked(
    shelf: Shelf, statements: Sequence[Statement], processes: int
) -> Iterator[Looked | None]:
    """Each segment, in order; None for one that retention removes meanwhile."""
    size, folders = sum(one.facts.bytes for one in statements), [shelf] * len(statements)
    if processes == 1 or size <= ALONE_BYTES:
        yield from map(_look, folders, statements)
        return
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        yield from pool.map(_look, folders, statements)


def _look(shelf: Shelf, statement: Statement) -> Looked | None:
    number = statement.facts.segment
    try:
        return look(shelf.segment(number), statement.facts, sealed=statement.type == "seal")
    except FileNotFoundError:
        if shelf.dropped(number).exists():
            return None
        gone = Finding("missing_segment", number, "it is gone, and not by a rule of retention")
        return Looked(number, 0, 0, Head(), gone)
