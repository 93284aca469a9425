"""The chain of the audit's lines: how each is tied to the one before, and how that is checked."""

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from entrance.errors import Malformed

GENESIS = "0" * 64


@dataclass(frozen=True, slots=True)
class Link:
    """The end of a chain: the last line's number and hash, and the file's size up to its end."""

    seq: int = 0
    hash: str = GENESIS
    size_bytes: int = 0

    def line(self, at: str, fields: Mapping[str, Any]) -> tuple[bytes, "Link"]:
        """The next line, and the end of the chain with it."""
        line = {"seq": self.seq + 1, "at": at, **fields, "prev": self.hash}
        line["hash"] = digest(line)
        raw = orjson.dumps(line, default=str) + b"\n"
        return raw, Link(self.seq + 1, line["hash"], self.size_bytes + len(raw))


def digest(line: Mapping[str, Any]) -> str:
    """SHA-256, hex, over a line's fields but `hash`, keys sorted."""
    body = {key: value for key, value in line.items() if key != "hash"}
    return hashlib.sha256(orjson.dumps(body, option=orjson.OPT_SORT_KEYS, default=str)).hexdigest()


def verify(path: Path, size_bytes: int | None = None) -> int:
    """Check the whole chain, or its first `size_bytes`; say how many lines it has.

    Raises: ValueError naming the line.
    """
    prev, count, seen = GENESIS, 0, 0
    with path.open("rb") as file:
        for raw in file:
            if seen == size_bytes:
                break
            count, seen = count + 1, seen + len(raw)
            prev = _next_hash(raw, count, prev)
            if not prev:
                raise ValueError(f"{path}: line {count} breaks the chain")
    return count


def end_of(path: Path) -> Link:
    """The end of the chain in a file; half a line after it is set aside.

    Raises: Malformed when the last whole line can't be read.
    """
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    if not path.exists():
        return Link()
    start, tail = _tail(path)
    whole = tail.rfind(b"\n") + 1
    if whole < len(tail):
        with open(path.with_suffix(".torn"), "ab", opener=private) as torn:
            torn.write(tail[whole:] + b"\n")
        os.truncate(path, start + whole)
    if not whole:
        return Link()
    try:
        last = orjson.loads(tail[:whole].splitlines()[-1])
        return Link(int(last["seq"]), str(last["hash"]), start + whole)
    except (ValueError, KeyError, TypeError) as error:
        raise Malformed(f"{path}: the last line can't be read; move the file away") from error


def private(path: str, flags: int) -> int:
    """Open a file that only its owner may read."""
    return os.open(path, flags, 0o600)


def _next_hash(raw: bytes, seq: int, prev: str) -> str:
    """The line's own hash if it is whole and follows `prev`; empty otherwise."""
    try:
        line = orjson.loads(raw)
        follows = (line["prev"], line["hash"], line["seq"]) == (prev, digest(line), seq)
        return str(line["hash"]) if follows else ""
    except (orjson.JSONDecodeError, KeyError, TypeError):
        return ""


def _tail(path: Path) -> tuple[int, bytes]:
    """The end of the file, long enough to hold its last whole line, and where it starts."""
    size, want = path.stat().st_size, 1 << 20
    with path.open("rb") as file:
        while True:
            start = max(0, size - want)
            file.seek(start)
            tail = file.read()
            if not start or b"\n" in tail[:-1].rpartition(b"\n")[0]:
                return start, tail
            want *= 8
