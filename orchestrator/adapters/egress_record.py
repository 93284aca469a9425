"""What the egress log knows of attempts at the internet, for rules that are tried on it."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson

from entrance.errors import Unavailable
from orchestrator.domain.access import Attempt, RecordedCall
from orchestrator.egress.query import Limits, query
from orchestrator.egress.statement import QueryRefused

LIMITS = Limits(rows=100_000, seconds=30)
"""So many of the newest attempts are looked at, by a process of its own."""
_SQL = """
SELECT decided_at, method, coalesce(nullif(url, ''), 'https://' || host || ':' || port || '/'),
       decision, kind = 'connect', run, agent, task
FROM attempts
WHERE door = 'egress' AND kind IN ('http', 'connect') AND decision != 'allow'
  AND decided_at >= TIMESTAMP '{since:%Y-%m-%d %H:%M:%S}'
ORDER BY seq DESC
"""
_CALLS = """
SELECT decided_at, subject, (detail->>'$.arguments_sha256'),
       CASE WHEN (detail->>'$.whole') = 'true' THEN (detail->>'$.arguments') END, run,
       decision = 'hold'
FROM attempts
WHERE door = 'mcp' AND kind = 'tool_call' AND (decision = 'hold' OR rule = 'not_granted')
  AND decided_at >= TIMESTAMP '{since:%Y-%m-%d %H:%M:%S}'
ORDER BY seq DESC
"""


@dataclass(frozen=True, slots=True)
class RecordedAttempts:
    """`orchestrator.approvals.ports.Recorded` over the log in a folder."""

    folder: Path

    async def attempts(self, since: datetime) -> Sequence[Attempt]:
        return await asyncio.to_thread(
            self._read, _SQL.format(since=since.astimezone(UTC)), _attempt
        )

    async def calls(self, since: datetime) -> Sequence[RecordedCall]:
        sql = _CALLS.format(since=since.astimezone(UTC))
        return await asyncio.to_thread(self._read, sql, _call)

    def _read[T](self, sql: str, made: Callable[[Sequence[Any]], T]) -> list[T]:
        try:
            with query(self.folder, sql, limits=LIMITS) as answer:
                return [made(row) for row in answer.rows()]
        except QueryRefused as error:
            raise Unavailable(f"the egress log can't be read: {error}") from error


def _call(row: Sequence[Any]) -> RecordedCall:
    at, subject, sha256, text, run, held = row
    connection, _, tool = str(subject or "").partition("/")
    decided = datetime.fromisoformat(at)
    return RecordedCall(
        at=decided if decided.tzinfo else decided.replace(tzinfo=UTC),
        connection=connection,
        tool=tool,
        sha256=sha256 or "",
        arguments=_arguments(text),
        run=run or "",
        held=bool(held),
    )


def _arguments(text: str | None) -> Mapping[str, Any] | None:
    """None when they were not kept whole."""
    try:
        read = orjson.loads(text or "")
    except orjson.JSONDecodeError:
        return None
    return read if isinstance(read, dict) else None


def _attempt(row: Sequence[Any]) -> Attempt:
    at, method, url, decision, tunnel, run, agent, task = row
    decided = datetime.fromisoformat(at)
    return Attempt(
        at=decided if decided.tzinfo else decided.replace(tzinfo=UTC),
        method=method or "",
        url=url or "",
        decision=decision,
        run=run or "",
        agent=agent or "",
        project=(task or "").partition("/")[0],
        tunnel=bool(tunnel),
    )
