"""The typed record of every decision, hash-chained, written before the answer goes out.

A record that can't be written raises `Unavailable`, and the request is refused: a decision
that isn't recorded isn't answered (design decision 6). Two kinds share one chain: what was
decided (before the answer), and what came of it (after).
"""

import asyncio
import hashlib
import os
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO, Literal, Protocol

import orjson

from entrance.decision import Decision
from entrance.errors import Malformed, Unavailable
from entrance.session import RunId, Session

Kind = Literal["auth", "tool_call", "git_fetch", "git_push", "model_call", "request"]
GENESIS = "0" * 64


@dataclass(frozen=True, slots=True)
class Decided:
    """What was decided about one request. `subject` names the thing wanted; `detail` adds facts."""

    kind: Kind
    subject: str
    decision: Decision
    session: Session | None = None
    """None when the token meant no session (then `address` still says who asked)."""
    address: str = ""
    run: RunId | None = None
    """The run that a refused token belonged to, where there is no session to say so."""
    detail: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of an allowed request: `of` is the decision's sequence number."""

    of: int
    result: str
    detail: Mapping[str, Any] = field(default_factory=dict)


class Audit(Protocol):
    """Where decisions are recorded."""

    async def decided(self, record: Decided) -> int:
        """Record it and return its sequence number. Raises: Unavailable if it can't be written."""
        ...

    async def came_of_it(self, record: Outcome) -> None:
        """Record what came of a decision. Raises: Unavailable."""
        ...


class AuditFile:
    """One JSON object a line, on the disk before it counts; each line carries the last one's hash.

    A decision: `{seq, at, kind, run, task, agent, address, subject, decision, reason, detail, prev,
    hash}`. What came of it: `{seq, at, kind: "outcome", of, result, detail, prev, hash}`. `hash` is
    SHA-256 over the line without it, keys sorted. A torn last line (a crash in mid-write) is set
    aside at opening. One process writes; a file that another has changed is not written to again.

    Raises, when opened: Malformed when its last whole line can't be read.
    """

    def __init__(self, path: Path, now: Callable[[], datetime]) -> None:
        self._path = path
        self._now = now
        self._lock = threading.Lock()
        self._torn = False
        self._seq, self._prev, self._size = _last_of(path)

    async def decided(self, record: Decided) -> int:
        who = record.session
        return await self._append(
            {
                "kind": record.kind,
                "run": who.run if who else record.run or "",
                "task": who.task if who else "",
                "agent": who.agent if who else "",
                "address": record.address or (who.address if who else ""),
                "subject": _readable(record.subject),
                "decision": record.decision.word,
                "reason": _readable(record.decision.reason),
                "detail": dict(record.detail),
            }
        )

    async def came_of_it(self, record: Outcome) -> None:
        detail = dict(record.detail)
        await self._append(
            {"kind": "outcome", "of": record.of, "result": record.result, "detail": detail}
        )

    async def check(self) -> int:
        """How many lines there are: it can be written, and its chain is whole. Raises: Unavailable."""
        try:
            return await asyncio.to_thread(self._check_now)
        except (OSError, ValueError) as error:
            raise Unavailable(f"the audit log can't be relied on: {error}") from error

    def _check_now(self) -> int:
        with self._lock, open(self._path, "ab", opener=_private) as file:
            size = self._size_of(file)
        # Its end moves on meanwhile; what is checked ends with a whole line.
        return verify(self._path, size)

    async def _append(self, fields: dict[str, Any]) -> int:
        try:
            return await asyncio.to_thread(self._append_now, fields)
        except OSError as error:
            message = f"the audit log {self._path} can't be written: {error}"
            raise Unavailable(message) from error

    def _append_now(self, fields: dict[str, Any]) -> int:
        # The chain moves on in the thread, under the lock: a caller that is cancelled while its
        # line is being written must not leave the next line with the same number.
        with self._lock:
            seq = self._seq + 1
            line = {"seq": seq, "at": self._now().isoformat(), **fields, "prev": self._prev}
            line["hash"] = digest(line)
            raw = orjson.dumps(line, default=str) + b"\n"
            with open(self._path, "ab", opener=_private) as file:
                self._write(file, raw)
            self._seq, self._prev, self._size = seq, line["hash"], self._size + len(raw)
            return seq

    def _write(self, file: BinaryIO, raw: bytes) -> None:
        if self._torn:
            os.ftruncate(file.fileno(), self._size)  # half a line would break the chain for good
            self._torn = False
        self._size_of(file)
        self._torn = True
        file.write(raw)
        file.flush()
        os.fdatasync(file.fileno())
        self._torn = False

    def _size_of(self, file: BinaryIO) -> int:
        size = os.fstat(file.fileno()).st_size
        if size != self._size:
            raise OSError(f"it has {size} bytes where we left {self._size}: somebody changed it")
        return size


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


def _next_hash(raw: bytes, seq: int, prev: str) -> str:
    """The line's own hash if it is whole and follows `prev`; empty otherwise."""
    try:
        line = orjson.loads(raw)
        follows = (line["prev"], line["hash"], line["seq"]) == (prev, digest(line), seq)
        return str(line["hash"]) if follows else ""
    except (orjson.JSONDecodeError, KeyError, TypeError):
        return ""


def _last_of(path: Path) -> tuple[int, str, int]:
    """Sequence number and hash of the last whole line, and the size up to its end."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    if not path.exists():
        return 0, GENESIS, 0
    start, tail = _tail(path)
    whole = tail.rfind(b"\n") + 1
    if whole < len(tail):
        with open(path.with_suffix(".torn"), "ab", opener=_private) as torn:
            torn.write(tail[whole:] + b"\n")
        os.truncate(path, start + whole)
    if not whole:
        return 0, GENESIS, 0
    try:
        last = orjson.loads(tail[:whole].splitlines()[-1])
        return int(last["seq"]), str(last["hash"]), start + whole
    except (ValueError, KeyError, TypeError) as error:
        raise Malformed(f"{path}: the last line can't be read; move the file away") from error


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


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _readable(text: str) -> str:
    """Without the lone surrogates that JSON can't hold: a strange path must not go unrecorded."""
    return text.encode("utf-8", "backslashreplace").decode()
