"""What the egress log knows of attempts at the internet, for rules that are tried on it."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from entrance.errors import Unavailable
from orchestrator.domain.access import Attempt
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


@dataclass(frozen=True, slots=True)
class RecordedAttempts:
    """`orchestrator.approvals.ports.Recorded` over the log in a folder."""

    folder: Path

    async def attempts(self, since: datetime) -> Sequence[Attempt]:
        return await asyncio.to_thread(self._read, since.astimezone(UTC))

    def _read(self, since: datetime) -> list[Attempt]:
        try:
            with query(self.folder, _SQL.format(since=since), limits=LIMITS) as answer:
                return [_attempt(row) for row in answer.rows()]
        except QueryRefused as error:
            raise Unavailable(f"the egress log can't be read: {error}") from error


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
