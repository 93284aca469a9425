"""The inbox in PocketBase: what agents want and people decide."""

from collections.abc import Iterable, Sequence
from typing import Any

import orjson
import structlog
from pydantic import TypeAdapter, ValidationError

from entrance.errors import Malformed
from entrance.session import RunId, TaskId
from orchestrator.adapters.pocketbase.client import PAGE, PocketBase
from orchestrator.adapters.pocketbase.filters import where
from orchestrator.adapters.pocketbase.rows import Row, bounded, stored_time
from orchestrator.domain.approval import IN_FORCE, Approval, ApprovalState

log = structlog.get_logger()

COLLECTION = "approvals"
_NEWEST_FIRST = "-asked,-@rowid"
_ITEM: TypeAdapter[Approval] = TypeAdapter(Approval)


class PocketBaseApprovals:
    """`orchestrator.approvals.ports.ApprovalStore` over PocketBase."""

    def __init__(self, store: PocketBase) -> None:
        self._store = store

    async def create(self, item: Approval) -> None:
        await self._store.create(COLLECTION, {"id": item.id, **_fields(item)})

    async def get(self, item: str) -> Approval:
        return _item(await self._store.get(COLLECTION, item))

    async def replace(self, item: Approval) -> None:
        await self._store.cas(COLLECTION, item.id, expected=item.version - 1, fields=_fields(item))

    async def listed(self, state: ApprovalState | None, limit: int) -> Sequence[Approval]:
        filter_ = where(("state", "=", str(state))) if state else ""
        rows = await self._store.list(
            COLLECTION, filter_, sort=_NEWEST_FIRST, limit=min(limit, PAGE)
        )
        return _readable(rows)

    async def in_force(self) -> Sequence[Approval]:
        out = [state for state in ApprovalState if state not in IN_FORCE]
        filter_ = where(*(("state", "!=", str(state)) for state in out))
        return await self._all(filter_)

    async def of_run(self, run: RunId) -> Sequence[Approval]:
        return await self._all(where(("run", "=", run)))

    async def of_task(self, task: TaskId) -> Sequence[Approval]:
        return await self._all(where(("task", "=", task)))

    async def _all(self, filter_: str) -> list[Approval]:
        rows = self._store.all(COLLECTION, filter_, sort="@rowid")
        return _readable([row async for row in rows])


def _fields(item: Approval) -> dict[str, Any]:
    return {
        "kind": item.kind,
        "state": str(item.state),
        "run": item.run,
        "task": item.task,
        "project": item.project,
        "version": item.version,
        "asked": stored_time(item.asked_at),
        "body": bounded(_ITEM.dump_python(item, mode="json")),
    }


def _readable(rows: Iterable[Row]) -> list[Approval]:
    """One item that can't be read opens nothing, and keeps no other from being heeded."""
    found = []
    for row in rows:
        try:
            found.append(_item(row))
        except Malformed as error:
            log.warning("approval_unreadable", error=str(error))
    return found


def _item(row: Row) -> Approval:
    """Raises: Malformed; an item that was cut is one that can't be read."""
    try:
        return _ITEM.validate_json(orjson.dumps(row.get("body")), strict=True)
    except ValidationError as error:
        places = ", ".join(".".join(map(str, one["loc"])) for one in error.errors()[:3])
        raise Malformed(f"PocketBase's approval {row.get('id')} can't be read: {places}") from error
