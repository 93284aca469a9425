"""Where writing goes on: the end of the log as it lies on the disk, after whatever happened to it.

The checkpoint vouches for the lines up to it. What comes after it may be half written, as a crash
leaves it: the first line there that isn't the next one, and all that follows, is a torn tail. It is
kept aside, and the segment tells of it in its next line. What is missing or different before the
checkpoint is no crash, and the log isn't written to again.
"""

import hashlib
import os
import re
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from entrance.errors import Malformed
from entrance.log.line import TAIL, Head, hash_of
from entrance.log.seal import Facts, read
from entrance.log.shelf import Shelf, private, settle
from entrance.log.signing import Trust, UntrustedError

_TORN = re.compile(rb'\{"seq":\d+,"at":"[^"]*","type":"torn",')


@dataclass(frozen=True, slots=True)
class Place:
    """Where the next line goes. `torn` is what the next line has to tell of, if anything."""

    facts: Facts
    torn: dict[str, Any] | None = None


def following(last: Facts | None, installation: str, at: datetime) -> Place:
    """The segment after `last`, or the first of all, before its first line."""
    number, end = (last.segment, last.end) if last else (0, Head())
    head = end.hash.hex()
    facts = Facts(number + 1, installation, end.seq + 1, 0, 0, head, head, at.isoformat())
    return Place(facts)


def recovered(shelf: Shelf, trust: Trust, installation: str, at: datetime) -> Place:
    """Where to go on; a torn tail is put aside. Raises: OSError, Malformed."""
    numbers = shelf.segments()
    if not numbers:
        return _nothing_there(shelf, trust, installation, at)
    newest = numbers[-1]
    vouched = _vouched(shelf, trust)
    if shelf.seal(newest).exists():
        sealed = _sealed(shelf, trust, newest)
        if vouched.segment > newest + 1 or (vouched.segment > newest and vouched.records):
            raise _wrong(shelf, f"segment {vouched.segment} is missing")
        return following(sealed, installation, at)
    if vouched.segment != newest:
        raise _wrong(shelf, f"its checkpoint is of segment {vouched.segment}, not {newest}")
    return _open_one(shelf, vouched)


def _nothing_there(shelf: Shelf, trust: Trust, installation: str, at: datetime) -> Place:
    if shelf.head.exists():
        vouched = _vouched(shelf, trust)
        if vouched.segment > 1 or vouched.records:
            raise _wrong(shelf, f"segment {vouched.segment} is missing")
    return following(None, installation, at)


def _vouched(shelf: Shelf, trust: Trust) -> Facts:
    try:
        return read(shelf.head.read_bytes(), trust, "checkpoint").facts
    except FileNotFoundError as error:
        raise _wrong(shelf, "its checkpoint is missing") from error
    except UntrustedError as error:
        raise _wrong(shelf, f"its checkpoint can't be relied on: {error}") from error


def _sealed(shelf: Shelf, trust: Trust, number: int) -> Facts:
    try:
        facts = read(shelf.seal(number).read_bytes(), trust, "seal").facts
    except UntrustedError as error:
        raise _wrong(shelf, f"the seal of segment {number} can't be relied on: {error}") from error
    if _end_of(shelf.segment(number), facts.bytes) != facts.end.hash:
        raise _wrong(shelf, f"segment {number} doesn't end as it was sealed")
    return facts


def _open_one(shelf: Shelf, vouched: Facts) -> Place:
    """The segment that was written to last, from its checkpoint on."""
    path = shelf.segment(vouched.segment)
    if vouched.records and _end_of(path, vouched.bytes, whole=False) != vouched.end.hash:
        raise _wrong(shelf, f"segment {vouched.segment} isn't what its checkpoint says")
    with path.open("rb") as file:
        file.seek(vouched.bytes)
        rest = file.read()
    facts = _followed(vouched, rest)
    return Place(facts, _set_aside(shelf, facts, rest[facts.bytes - vouched.bytes :]))


def _followed(facts: Facts, rest: bytes) -> Facts:
    """The segment with those of the lines that follow one another."""
    head, size, torn = facts.end, facts.bytes, facts.torn
    for line in rest.split(b"\n")[:-1]:
        further = head.followed_by(line)
        if further is None:
            break
        head, size, torn = further, size + len(line) + 1, torn + bool(_TORN.match(line))
    return replace(facts.grown(head, size), torn=torn)


def _set_aside(shelf: Shelf, facts: Facts, tail: bytes) -> dict[str, Any] | None:
    """What is to be told of a torn tail, which is kept in a file of its own.

    One that was put aside and never told of, as we died in between, is told of now.
    """
    aside = shelf.torn(facts.segment, facts.bytes)
    if tail:
        with open(aside, "ab", opener=private) as file:
            file.write(tail)
            file.flush()
            os.fdatasync(file.fileno())
        settle(shelf.folder)
        os.truncate(shelf.segment(facts.segment), facts.bytes)
    if not aside.exists():
        return None
    kept = aside.read_bytes()
    return {
        "type": "torn",
        "bytes": len(kept),
        "sha256": hashlib.sha256(kept).hexdigest(),
        "kept": aside.name,
    }


def _end_of(path: Path, size_bytes: int, *, whole: bool = True) -> bytes:
    """The hash of the line that ends at `size_bytes`; empty when none ends there."""
    size = path.stat().st_size
    if size < size_bytes or (whole and size != size_bytes):
        return b""
    with path.open("rb") as file:
        file.seek(max(0, size_bytes - TAIL - 1))
        tail = file.read(min(size_bytes, TAIL + 1))
    return (hash_of(tail[:-1]) if tail.endswith(b"\n") else None) or b""


def _wrong(shelf: Shelf, what: str) -> Malformed:
    return Malformed(
        f"the egress log {shelf.folder} was changed: {what}. See `sandgate egress verify`; "
        "to go on with a new log, move the folder away"
    )
