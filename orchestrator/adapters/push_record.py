"""What the egress log knows of pushes."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson

from entrance.errors import Unavailable
from orchestrator.domain.pushes import RecordedPush
from orchestrator.egress.query import Limits, query
from orchestrator.egress.statement import QueryRefused

LIMITS = Limits(rows=2000, seconds=30)
_SQL = """
SELECT seq, decided_at, run, task, agent, subject, decision, reason, rule, result, ended_at, detail,
       outcome_detail
FROM attempts
WHERE kind = 'git_push' AND json_exists(detail, '$.updates') AND {where}
ORDER BY seq DESC
LIMIT {limit}
"""
_OF = "(seq = {seq} OR json_extract_string(detail, '$.held') = '{seq}')"


@dataclass(frozen=True, slots=True)
class RecordedPushes:
    """`orchestrator.api.pushes.PushLog` over the log in a folder."""

    folder: Path

    async def newest(self, *, run: str, task: str, limit: int) -> Sequence[RecordedPush]:
        wanted = [
            f"{name} = {_text(value)}" for name, value in (("run", run), ("task", task)) if value
        ]
        sql = _SQL.format(where=" AND ".join(wanted) or "true", limit=min(limit, LIMITS.rows))
        return await asyncio.to_thread(self._read, sql)

    async def one(self, seq: int) -> Sequence[RecordedPush]:
        sql = _SQL.format(where=_OF.format(seq=int(seq)), limit=10)
        return await asyncio.to_thread(self._read, sql)

    def _read(self, sql: str) -> list[RecordedPush]:
        try:
            with query(self.folder, sql, limits=LIMITS) as answer:
                return [_push(row) for row in answer.rows()]
        except QueryRefused as error:
            raise Unavailable(f"the egress log can't be read: {error}") from error


def _push(row: Sequence[Any]) -> RecordedPush:
    seq, at, run, task, agent, subject, decision, reason, rule, result, ended, detail, came = row
    return RecordedPush(
        seq=seq,
        at=_time(at),
        run=run or "",
        task=task or "",
        agent=agent or "",
        repository=subject or "",
        decision=decision or "",
        reason=reason or "",
        rule=rule or "",
        result=result or "",
        ended_at=_time(ended) if ended else None,
        detail=_facts(detail),
        came=_facts(came),
    )


def _time(text: str) -> datetime:
    read = datetime.fromisoformat(text)
    return read if read.tzinfo else read.replace(tzinfo=UTC)


def _facts(value: Any) -> dict[str, Any]:
    """JSON comes as text, or read already."""
    try:
        read = orjson.loads(value) if isinstance(value, str | bytes) else value
    except orjson.JSONDecodeError:
        return {}
    return read if isinstance(read, dict) else {}


def _text(value: str) -> str:
    """As SQL writes a text."""
    return "'" + value.replace("'", "''") + "'"
