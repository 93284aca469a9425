"""Pushes: what agents pushed, what was decided about it, and what came of it."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Protocol

from aiohttp import web

from entrance.errors import NotFound
from entrance.session import TaskId
from orchestrator.api.items import approval_json
from orchestrator.api.shapes import BadInput, whole_number
from orchestrator.approvals.ports import ApprovalStore, KeptPushes
from orchestrator.domain.approval import OPEN, Approval
from orchestrator.domain.kinds import PUSH
from orchestrator.domain.push import kept_of
from orchestrator.domain.pushes import Push, PushState, RecordedPush, pushes, refs_of

MOST = 500
ITEMS_LOOKED_AT = 500
_LONGEST_SEQ = 18


class PushLog(Protocol):
    """What the log knows of pushes. Everything may raise Unavailable."""

    async def newest(self, *, run: str, task: str, limit: int) -> Sequence[RecordedPush]:
        """The newest, newest first; of this run, this task, where one is named."""
        ...

    async def one(self, seq: int) -> Sequence[RecordedPush]:
        """The push with this number and, of a held one, its end."""
        ...


@dataclass(frozen=True, slots=True)
class PushRoutes:
    """The routes below `/api/pushes`."""

    log: PushLog
    store: ApprovalStore
    kept: KeptPushes

    def routes(self) -> list[web.RouteDef]:
        return [
            web.get("/api/pushes", self.listing),
            web.get("/api/pushes/{push}", self.show),
            web.get("/api/pushes/{push}/diff", self.diff),
        ]

    async def listing(self, request: web.Request) -> web.Response:
        """The newest pushes, newest first; `?run=`, `?task=`, `?state=` for some, `?limit=` (1 to 500).

        States: `taken`, `refused` (by the host), `denied` (here), `held`, `sending`, `unknown`.
        503 when the log can't be read.
        """
        asked = request.query
        limit = whole_number(asked.get("limit", "100"), "limit", least=1, most=MOST)
        state = asked.get("state", "")
        if state not in {"", *PushState}:
            raise BadInput(f"state: it is one of {', '.join(PushState)}")
        most = MOST if state else 2 * limit  # a held one may be two records
        run, task = asked.get("run", "")[:200], asked.get("task", "")[:200]
        recorded = await self.log.newest(run=run, task=task, limit=most)
        items = await self.store.listed(None, ITEMS_LOOKED_AT)
        each = [one for one in pushes(recorded, items) if not one.again]
        found = [one for one in each if state in {"", one.state}]
        return web.json_response([push_json(one) for one in found[:limit]])

    async def show(self, request: web.Request) -> web.Response:
        """One push, by its number in the log or by its item of the inbox, with all that was found in it.

        404 when the log doesn't have it (any more).
        """
        push = await self._push(request)
        item = approval_json(push.item) if push.item else None
        more = {
            "detail": dict(push.recorded.detail),
            "came": dict((push.end or push.recorded).came),
            "item": item,
        }
        return web.json_response({**push_json(push), **more})

    async def diff(self, request: web.Request) -> web.Response:
        """What a held push would change: `{commits, files, patch, cut}`; `cut` says that there is more.

        404 when it isn't held (any more): what the host has is to be looked at there.
        """
        name = request.match_info["push"]
        # By its item it is shown also when the log can't be read, or is no longer that long.
        item = (await self._push(request)).item if _is_number(name) else await self._item(name)
        if item is None or item.state not in OPEN:
            state = item.state if item else "not held"
            raise NotFound(f"push {name[:64]} is {state}: nothing is kept of it")
        return web.json_response(asdict(await self.kept.preview(kept_of(item))))

    async def _push(self, request: web.Request) -> Push:
        name = request.match_info["push"]
        item = None if _is_number(name) else await self._item(name)
        seq = int(name) if item is None else int(item.wanted["decision"])
        recorded = await self.log.one(seq)
        items = [item] if item else await self._items_of(recorded)
        found = next((one for one in pushes(recorded, items) if one.recorded.seq == seq), None)
        if found is None:
            raise NotFound(f"the log has no push {name[:64]}")
        return found

    async def _item(self, name: str) -> Approval:
        item = await self.store.get(name)
        if item.kind != PUSH:
            raise NotFound(f"{name[:64]} is no push")
        return item

    async def _items_of(self, recorded: Sequence[RecordedPush]) -> Sequence[Approval]:
        tasks = {one.task for one in recorded if one.task}
        return [item for task in tasks for item in await self.store.of_task(TaskId(task))]


def _is_number(name: str) -> bool:
    return name.isdecimal() and len(name) <= _LONGEST_SEQ


def push_json(push: Push) -> dict[str, Any]:
    """A push as people see it."""
    one, end = push.recorded, push.end or push.recorded
    return {
        "id": one.seq,
        "at": one.at.isoformat(),
        "state": push.state,
        "run": one.run,
        "task": one.task,
        "agent": one.agent,
        "repository": one.repository,
        "refs": list(refs_of(one)),
        "updates": list(one.detail.get("updates", [])),
        "decision": one.decision,
        "reason": one.reason,
        "findings": list(one.detail.get("findings", [])),
        "approval": push.item.id if push.item else str(end.detail.get("approval", "")),
        "decided_by": push.item.decided_by if push.item else str(end.detail.get("by", "")),
        "result": end.result if end.decision == "allow" else "",
        "ended_at": end.ended_at.isoformat() if end.ended_at else None,
    }
