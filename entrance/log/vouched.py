"""What is signed about each segment of a log, and whether that hangs together. No line is read."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from entrance.log.findings import Finding, Kind
from entrance.log.seal import Statement, Type, read
from entrance.log.shelf import Shelf
from entrance.log.signing import Trust, UntrustedError

_TRIES = 5
_KINDS: dict[str, Kind] = {"foreign_key": "foreign_key", "forged": "forged"}


@dataclass(frozen=True, slots=True)
class Vouched:
    """A seal, tombstone or checkpoint a segment, oldest first, up to what is wrong, if anything."""

    statements: Sequence[Statement]
    finding: Finding | None = None


class _Found(Exception):
    def __init__(self, kind: Kind, segment: int, sentence: str) -> None:
        super().__init__(sentence)
        self.finding = Finding(kind, segment, sentence)


def vouched(shelf: Shelf, trust: Trust) -> Vouched:
    """Signatures, gaps and links are checked. The log may be written to meanwhile. Raises: OSError."""
    before = _head(shelf)
    found = _vouched(shelf, trust, before)
    for _ in range(_TRIES):
        if found.finding is None or before == (now := _head(shelf)):
            break  # else a segment was begun meanwhile
        before, found = now, _vouched(shelf, trust, now)
    return found


def _vouched(shelf: Shelf, trust: Trust, head: bytes) -> Vouched:
    statements: list[Statement] = []
    try:
        for one in _each(shelf, trust, head):
            _linked(statements[-1] if statements else None, one)
            statements.append(one)
    except _Found as stopped:
        return Vouched(statements, stopped.finding)
    return Vouched(statements)


def _each(shelf: Shelf, trust: Trust, head: bytes) -> Iterator[Statement]:
    there, removed = shelf.segments(), shelf.removed()
    newest = max([*there, *removed], default=0)
    for number in range(1, newest + 1):
        if number in there and shelf.seal(number).exists():
            yield _read(shelf.seal(number).read_bytes(), trust, "seal", number)
        elif number in there and number == newest:
            yield _checkpoint(head, trust, number)
            return
        elif number in there:
            raise _Found("unsealed", number, "it is followed by another, and has no seal")
        elif number in removed:
            yield _read(shelf.dropped(number).read_bytes(), trust, "tombstone", number)
        else:
            raise _Found("missing_segment", number, "it is gone, and not by a rule of retention")
    if newest or head:
        _nothing_after(_read(head, trust, "checkpoint", newest), newest)


def _read(text: bytes, trust: Trust, wanted: Type, number: int) -> Statement:
    if not text:
        raise _Found("no_checkpoint", number, "the checkpoint is gone")
    try:
        statement = read(text, trust, wanted)
    except UntrustedError as error:
        kind = _KINDS.get(error.why, "unreadable")
        raise _Found(kind, number, f"of its {wanted}: {error}") from error
    if wanted != "checkpoint" and statement.facts.segment != number:
        sentence = f"its {wanted} is that of segment {statement.facts.segment}"
        raise _Found("replaced", number, sentence)
    return statement


def _checkpoint(head: bytes, trust: Trust, number: int) -> Statement:
    statement = _read(head, trust, "checkpoint", number)
    if statement.facts.segment > number:
        raise _Found("missing_segment", statement.facts.segment, "the checkpoint vouches for it")
    if statement.facts.segment < number:
        sentence = f"the checkpoint is an old one, of segment {statement.facts.segment}"
        raise _Found("no_checkpoint", number, sentence)
    return statement


def _nothing_after(checkpoint: Statement, newest: int) -> None:
    """The newest segment is sealed: the checkpoint is its own, or of one that has no line yet."""
    facts = checkpoint.facts
    if facts.segment > newest + 1 or (facts.segment > newest and facts.records):
        raise _Found("missing_segment", facts.segment, "the checkpoint vouches for it")
    if facts.segment < newest:
        sentence = f"the checkpoint is an old one, of segment {facts.segment}"
        raise _Found("no_checkpoint", newest, sentence)


def _linked(before: Statement | None, one: Statement) -> None:
    facts = one.facts
    prev, seq = (before.facts.head, before.facts.last_seq) if before else ("0" * 64, 0)
    if facts.prev != prev or facts.first_seq != seq + 1:
        sentence = f"it doesn't begin where segment {facts.segment - 1} ends"
        raise _Found("unlinked", facts.segment, sentence)


def _head(shelf: Shelf) -> bytes:
    try:
        return shelf.head.read_bytes()
    except FileNotFoundError:
        return b""
