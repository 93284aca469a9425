"""Whether one segment's lines are those that were written, and as many as are vouched for."""

import hashlib
import os
from binascii import hexlify
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import orjson

from entrance.log.findings import Finding
from entrance.log.line import END, MARK, TAIL, End, Head, hash_of, seq_of
from entrance.log.seal import Facts

PIECE_BYTES = 128 << 10
"""So much of a file is read at once: it stays in the processor's cache until it is hashed."""


@dataclass(frozen=True, slots=True)
class Looked:
    """What a segment is as far as it is whole: so many lines and bytes, up to this head.

    `unfinished`: so many bytes of a last line, as a writer that died, or is writing, leaves them.
    """

    segment: int
    records: int
    bytes: int
    head: Head
    finding: Finding | None = None
    unfinished: int = 0


def look(path: Path, vouched: Facts, *, sealed: bool) -> Looked:
    """Look at a segment. `vouched`: what its seal says, or the checkpoint of an open one.

    Raises: OSError.
    """
    with path.open("rb", buffering=PIECE_BYTES) as file:
        end = signed_for = followed(islice(file, vouched.records), _begin(vouched))
        if not sealed:
            end = followed(file, signed_for)
        is_all = end.size == os.fstat(file.fileno()).st_size
        if vouched.records and signed_for.head == vouched.end and is_all:
            return Looked(vouched.segment, end.head.seq - vouched.first_seq + 1, end.size, end.head)
        file.seek(0)
        return _examined(file.readlines(), vouched, sealed=sealed)


def followed(lines: Iterable[bytes], begin: End) -> End:
    """How far lines, each with its line feed, follow one another. As few steps a line as can be."""
    sha256 = hashlib.sha256
    (seq, before), size = begin
    for line in lines:
        digest = sha256(before + line[: -TAIL - 1]).digest()
        if not line.endswith(b"%b%b%b\n" % (MARK, hexlify(digest), END)):
            break
        if not line.startswith(b'{"seq":%d,' % (seq + 1)):
            break
        seq, before, size = seq + 1, digest, size + len(line)
    return End(Head(seq, before), size)


def _begin(vouched: Facts) -> End:
    return End(Head(vouched.first_seq - 1, bytes.fromhex(vouched.prev)))


def _examined(lines: list[bytes], vouched: Facts, *, sealed: bool) -> Looked:
    """What is wrong with a segment, or how a new one ends, from all its lines at once."""
    number, begin = vouched.segment, _begin(vouched)
    rest = b"" if not lines or lines[-1].endswith(b"\n") else lines.pop()
    if lines and (strange := _other(lines[0], vouched)):
        return Looked(number, 0, 0, begin.head, strange)
    end = followed(lines[: vouched.records], begin)
    count = end.head.seq - begin.head.seq
    finding = _of_vouched(lines, count, end.head, vouched)
    if finding is None and not sealed:
        end = followed(lines[count:], end)
        count = end.head.seq - begin.head.seq
        finding = broken(lines, count, end.head, number) if count < len(lines) else None
    elif finding is None and (rest or count < len(lines)):
        sentence = "there is more in it than was sealed"
        finding = Finding("lengthened", number, sentence, vouched.last_seq + 1)
    return Looked(number, count, end.size, end.head, finding, len(rest))


def broken(lines: Sequence[bytes], at: int, head: Head, segment: int) -> Finding:
    """What happened at the first line that doesn't follow."""
    expected, says, own = head.seq + 1, seq_of(lines[at]), hash_of(lines[at][:-1])
    goes_on = at + 1 < len(lines) and own is not None
    if says is None or own is None or says == expected:
        return _changed(segment, expected)
    if goes_on and Head(expected, own).followed_by(lines[at + 1][:-1]):
        return _changed(segment, expected)  # it is in its place: all but its hash was touched
    if says < expected or any(seq_of(line) == expected for line in lines[at + 1 :]):
        sentence = f"record {says} stands where {expected} should"
        return Finding("reordered", segment, sentence, expected)
    gone = str(expected) if says == expected + 1 else f"{expected} to {says - 1}"
    return Finding("dropped", segment, f"{gone} can't be found", expected)


def _changed(segment: int, seq: int) -> Finding:
    return Finding("changed", segment, "its hash doesn't fit what it says", seq)


def _of_vouched(lines: Sequence[bytes], count: int, head: Head, vouched: Facts) -> Finding | None:
    """What is wrong with those lines that are vouched for."""
    number, missing = vouched.segment, vouched.records - count
    if not missing:
        sentence = "its records hang together, but are not those that were signed for"
        return None if head == vouched.end else Finding("replaced", number, sentence)
    if count < len(lines):
        return broken(lines, count, head, number)
    sentence = f"it ends {missing} records before the last that was signed for"
    return Finding("truncated", number, sentence, head.seq + 1)


def _other(line: bytes, vouched: Facts) -> Finding | None:
    """Whether the first line is that of another segment."""
    try:
        opened = orjson.loads(line)
        is_opening = opened.get("type") == "opened"
        says = opened.get("segment")
    except (orjson.JSONDecodeError, AttributeError):
        return None  # the chain says so better
    if not is_opening or says == vouched.segment:
        return None
    sentence = f"it holds the records of segment {says}"
    return Finding("replaced", vouched.segment, sentence, vouched.first_seq)
