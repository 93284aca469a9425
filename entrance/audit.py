"""The typed record of every decision, hash-chained, written before the answer goes out.

A record that can't be written raises `Unavailable`, and the request is refused: a decision
that isn't recorded isn't answered (design decision 6). Two kinds share one chain: what was
decided (before the answer), and what came of it (after).
"""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, Protocol

from entrance.decision import Decision
from entrance.disk import Disk
from entrance.errors import Unavailable
from entrance.journal import Journal
from entrance.session import RunId, Session

Kind = Literal["auth", "tool_call", "git_fetch", "git_push", "model_call", "request"]


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

    def deciding(self, record: Decided) -> "asyncio.Future[int]":
        """Begin to record it; its sequence number once that is done, and until then it does not count.

        The future fails as `decided` does.
        """
        ...

    async def came_of_it(self, record: Outcome) -> None:
        """Record what came of a decision. Raises: Unavailable."""
        ...


class AuditFile:
    """One JSON object a line, on the disk before it counts; each line carries the last one's hash.

    A decision: `{seq, at, kind, run, task, agent, address, subject, decision, reason, detail, prev,
    hash}`. What came of it: `{seq, at, kind: "outcome", of, result, detail, prev, hash}`. `hash` is
    SHA-256 over the line without it, keys sorted (see `chain`). A torn last line (a crash in
    mid-write) is set aside at opening. One process writes; a file that another has changed is not
    written to again.

    Raises, when opened: Malformed when its last whole line can't be read.
    """

    def __init__(self, path: Path, now: Callable[[], datetime], disk: Disk | None = None) -> None:
        self._journal = Journal(path, now, disk)

    async def decided(self, record: Decided) -> int:
        return await self._journal.append(_fields(record))

    def deciding(self, record: Decided) -> "asyncio.Future[int]":
        return self._journal.append(_fields(record))

    async def came_of_it(self, record: Outcome) -> None:
        detail = dict(record.detail)
        fields = {"kind": "outcome", "of": record.of, "result": record.result, "detail": detail}
        await self._journal.append(fields)

    async def check(self) -> int:
        """How many lines there are: it can be written, and its chain is whole. Raises: Unavailable."""
        try:
            return await self._journal.check()
        except (OSError, ValueError) as error:
            raise Unavailable(f"the audit log can't be relied on: {error}") from error


def _fields(record: Decided) -> dict[str, Any]:
    who = record.session
    return {
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


def _readable(text: str) -> str:
    """Without the lone surrogates that JSON can't hold: a strange path must not go unrecorded."""
    return text.encode("utf-8", "backslashreplace").decode()
