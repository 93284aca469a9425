"""What the egress log knows of attempts at the internet, for rules that are tried on it."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb

from entrance.errors import NotFound, Unavailable
from orchestrator.domain.access import Attempt
from orchestrator.egress.database import attempts

MOST = 100_000
"""So many of the newest attempts are looked at."""
_SQL = """
SELECT decided_at, method, coalesce(nullif(url, ''), 'https://' || host || ':' || port || '/'),
       decision, kind = 'connect', run, agent, task
FROM attempts
WHERE door = 'egress' AND kind IN ('http', 'connect') AND decision != 'allow' AND decided_at >= ?
ORDER BY seq DESC LIMIT ?
"""


@dataclass(frozen=True, slots=True)
class RecordedAttempts:
    """`orchestrator.approvals.ports.Recorded` over the log in a folder."""

    folder: Path

    async def attempts(self, since: datetime) -> Sequence[Attempt]:
        return await asyncio.to_thread(self._read, since)

    def _read(self, since: datetime) -> list[Attempt]:
        try:
            with attempts(self.folder, since=since) as connection:
                rows = connection.execute(_SQL, [since.astimezone(UTC).replace(tzinfo=None), MOST])
                return [_attempt(row) for row in rows.fetchall()]
        except NotFound:
            return []
        except duckdb.Error as error:
            raise Unavailable(f"the egress log can't be read: {error}") from error


def _attempt(row: tuple[Any, ...]) -> Attempt:
    at, method, url, decision, tunnel, run, agent, task = row
    return Attempt(
        at=at.replace(tzinfo=UTC),
        method=method or "",
        url=url or "",
        decision=decision,
        run=run or "",
        agent=agent or "",
        project=(task or "").partition("/")[0],
        tunnel=bool(tunnel),
    )
