"""The typed record of every decision, hash-chained, written before the answer goes out.

A record that can't be written raises `Unavailable`, and the request is refused: a decision
that isn't recorded isn't answered (design decision 6). Two kinds share one chain: what was
decided (before the answer), and what came of it (after).
"""

import asyncio
import hashlib
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, Protocol

import orjson

from entrance.decision import Decision
from entrance.errors import Unavailable
from entrance.session import Session

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
        """Record it and return its sequence number. Raises: Unavailable when it can't be written."""
        ...

    async def came_of_it(self, record: Outcome) -> None:
        """Record what came of a decision. Raises: Unavailable."""
        ...


class AuditFile:
    """One JSON object a line, appended and flushed to the disk; each line carries the hash of the last.

    A line: `{seq, at, kind, run, task, agent, address, subject, decision, reason, detail, prev, hash}`,
    or `{seq, at, kind: "outcome", of, result, detail, prev, hash}`. `hash` is SHA-256 over the line
    without it, keys sorted. A torn last line (a crash in mid-write) is set aside at opening.
    """

    def __init__(self, path: Path, now: Callable[[], datetime]) -> None:
        self._path = path
        self._now = now
        self._lock = asyncio.Lock()
        self._seq, self._prev = _last_of(path)

    async def decided(self, record: Decided) -> int:
        who = record.session
        return await self._append(
            {
                "kind": record.kind,
                "run": who.run if who else "",
                "task": who.task if who else "",
                "agent": who.agent if who else "",
                "address": record.address or (who.address if who else ""),
                "subject": record.subject,
                "decision": record.decision.word,
                "reason": record.decision.reason,
                "detail": dict(record.detail),
            }
        )

    async def came_of_it(self, record: Outcome) -> None:
        await self._append(
            {"kind": "outcome", "of": record.of, "result": record.result, "detail": dict(record.detail)}
        )

    async def _append(self, fields: dict[str, Any]) -> int:
        async with self._lock:
            seq = self._seq + 1
            line = {"seq": seq, "at": self._now().isoformat(), **fields, "prev": self._prev}
            line["hash"] = digest(line)
            try:
                await asyncio.to_thread(self._write, orjson.dumps(line, default=str) + b"\n")
            except OSError as error:
                raise Unavailable(f"the audit log {self._path} can't be written: {error}") from error
            self._seq, self._prev = seq, line["hash"]
            return seq

    def _write(self, line: bytes) -> None:
        before = self._path.stat().st_size if self._path.exists() else 0
        with self._path.open("ab") as file:
            try:
                file.write(line)
                file.flush()
                os.fdatasync(file.fileno())
            except OSError:
                os.truncate(self._path, before)  # half a line would break the chain for good
                raise


def digest(line: Mapping[str, Any]) -> str:
    """SHA-256, hex, over a line's fields but `hash`, keys sorted."""
    body = {key: value for key, value in line.items() if key != "hash"}
    return hashlib.sha256(orjson.dumps(body, option=orjson.OPT_SORT_KEYS, default=str)).hexdigest()


def verify(path: Path) -> int:
    """Check the whole chain and return how many lines it has. Raises: ValueError naming the line."""
    prev, count = GENESIS, 0
    with path.open("rb") as file:
        for count, raw in enumerate(file, start=1):  # noqa: B007 - the count is the answer
            line = orjson.loads(raw)
            if line["prev"] != prev or line["hash"] != digest(line) or line["seq"] != count:
                raise ValueError(f"{path}: line {count} breaks the chain")
            prev = line["hash"]
    return count


def _last_of(path: Path) -> tuple[int, str]:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    if not path.exists():
        return 0, GENESIS
    data = path.read_bytes()
    whole = data.rfind(b"\n") + 1
    if whole < len(data):
        with path.with_suffix(".torn").open("ab") as torn:
            torn.write(data[whole:] + b"\n")
        os.truncate(path, whole)
    if not whole:
        return 0, GENESIS
    last = orjson.loads(data[:whole].splitlines()[-1])
    return int(last["seq"]), str(last["hash"])
