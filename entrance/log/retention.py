"""Which sealed segments are kept no longer, and how they go: what they were stays known.

A segment's signed tombstone is on the disk before its lines are removed; with the `prev` of the
segment after it, the chain goes on over the gap.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from entrance.log.seal import Statement, read, tombstone
from entrance.log.shelf import Shelf, put
from entrance.log.signing import Signer, UntrustedError


@dataclass(frozen=True, slots=True)
class Keep:
    """How long, and how much. None: without an end. The newest sealed segment always stays."""

    age: timedelta | None = None
    bytes: int | None = None


def going(seals: Sequence[Statement], keep: Keep, now: datetime) -> list[tuple[Statement, str]]:
    """Which of the sealed segments, oldest first, go now, and by which rule [pure].

    Only the oldest go: what is left is without gaps.
    """
    left, gone = sum(seal.facts.bytes for seal in seals), list[tuple[Statement, str]]()
    for seal in seals[:-1]:
        age = now - datetime.fromisoformat(seal.told["sealed_at"])
        if keep.age is not None and age > keep.age:
            rule = f"older than {keep.age / timedelta(days=1):g} days"
        elif keep.bytes is not None and left > keep.bytes:
            rule = f"more than {keep.bytes} bytes"
        else:
            break
        gone.append((seal, rule))
        left -= seal.facts.bytes
    return gone


def drop(shelf: Shelf, signer: Signer, keep: Keep, now: datetime) -> list[Statement]:
    """Remove what goes; its tombstones. Raises: OSError."""
    _finish(shelf, shelf.removed())
    gone = [
        tombstone(seal, now.isoformat(), rule)
        for seal, rule in going(_seals(shelf, signer), keep, now)
    ]
    for stone in gone:
        put(shelf.dropped(stone.facts.segment), stone.signed(signer))
    _finish(shelf, [stone.facts.segment for stone in gone])
    return gone


def _seals(shelf: Shelf, signer: Signer) -> list[Statement]:
    """The seals of the oldest segments, up to the first that has none which we have signed.

    What isn't ours is evidence: it is not removed, nor what comes after it.
    """
    found: list[Statement] = []
    for number in shelf.segments():
        try:
            found.append(read(shelf.seal(number).read_bytes(), signer.trust, "seal"))
        except (FileNotFoundError, UntrustedError):
            break
    return found


def _finish(shelf: Shelf, numbers: Iterable[int]) -> None:
    for number in numbers:
        if shelf.segment(number).exists():
            for copy in shelf.copies(number):
                copy.unlink(missing_ok=True)
        shelf.segment(number).unlink(missing_ok=True)
        shelf.seal(number).unlink(missing_ok=True)
