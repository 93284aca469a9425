"""What can be wrong with a log, and how it is said [pure]."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Kind = Literal[
    "changed",
    "dropped",
    "reordered",
    "truncated",
    "lengthened",
    "replaced",
    "unlinked",
    "missing_segment",
    "unsealed",
    "foreign_key",
    "forged",
    "unreadable",
    "no_checkpoint",
]

KINDS: Mapping[Kind, str] = {
    "changed": "A record is not what was written: its hash doesn't fit its bytes.",
    "dropped": "Records are missing in the middle of a segment.",
    "reordered": "Records are there, but not in their order.",
    "truncated": "A segment ends before what its seal, or the checkpoint, vouches for.",
    "lengthened": "A sealed segment has more than was sealed.",
    "replaced": "A segment's records hang together, but are not those that were vouched for.",
    "unlinked": "A segment doesn't begin where the one before it ends.",
    "missing_segment": "A segment is gone, and no rule of retention has removed it.",
    "unsealed": "A segment that is followed by another has no seal.",
    "foreign_key": "A seal, checkpoint or tombstone is signed with another key.",
    "forged": "A seal, checkpoint or tombstone says something else than what was signed.",
    "unreadable": "A seal, checkpoint or tombstone can't be read.",
    "no_checkpoint": "Nothing vouches for the newest records: their checkpoint is gone.",
}


@dataclass(frozen=True, slots=True)
class Finding:
    """What is wrong first. `seq` is the record's number, where one can be named."""

    kind: Kind
    segment: int
    sentence: str
    seq: int | None = None

    def __str__(self) -> str:
        at = "" if self.seq is None else f", record {self.seq}"
        return f"segment {self.segment}{at}: {self.kind}: {self.sentence}"
