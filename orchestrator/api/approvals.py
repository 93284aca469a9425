"""The inbox: what agents want that a person has to decide, and what was decided."""

from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from aiohttp import web

from entrance.errors import NotFound
from entrance.session import RunId
from orchestrator.api.inbox_events import InboxEvents
from orchestrator.api.items import approval_json
from orchestrator.api.shapes import BadInput, Opening, Verdict, body_of, whole_number
from orchestrator.api.turns import Events, turn_of
from orchestrator.approvals.deciding import Decided, Deciding
from orchestrator.approvals.handling import Decision
from orchestrator.approvals.ports import ApprovalStore
from orchestrator.domain.access import Edits
from orchestrator.domain.approval import Approval, ApprovalState, Verb
from orchestrator.domain.egress import rule_json
from orchestrator.domain.kinds import PUSH
from orchestrator.domain.push import beside
from orchestrator.egress_policy import EgressPolicy

MOST = 500
ONE = "/api/approvals/{item}"


@dataclass(frozen=True, slots=True)
class ApprovalRoutes:
    """The routes below `/api/approvals`, and what a run may reach now."""

    store: ApprovalStore
    deciding: Deciding
    policy: EgressPolicy | None
    """None: this installation opens nothing of the internet."""
    live: InboxEvents
    events: Events
    """What the runs did."""

    def routes(self) -> list[web.RouteDef]:
        return [
            web.get("/api/approvals", self.listing),
            web.get("/api/approvals/events", self.live.events),  # before ONE, which it looks like
            web.get(ONE, self.show),
            web.post(f"{ONE}/try", self.try_on_record),
            web.post(f"{ONE}/{{verb:once|run|rule|deny|revoke}}", self.decide),
            web.get("/api/runs/{run}/egress", self.reaches),
        ]

    async def listing(self, request: web.Request) -> web.Response:
        """The newest items, newest first; `?state=` for those of one state, `?limit=` (1 to 500)."""
        limit = whole_number(request.query.get("limit", "100"), "limit", least=1, most=MOST)
        state = request.query.get("state", "")
        if state not in {"", *ApprovalState}:
            raise BadInput(f"state: it is one of {', '.join(ApprovalState)}")
        found = await self.store.listed(ApprovalState(state) if state else None, limit)
        return web.json_response([approval_json(item) for item in found])

    async def show(self, request: web.Request) -> web.Response:
        """One item: who wants what and why, what happens if it is allowed, and what was decided.

        `turn`: what of the run led to it, `{step, at, said, call}`, or null. `beside`, of a push: other
        open items that move the same branch; only one of them can arrive.
        """
        item = await self._item(request)
        turn = await turn_of(self.events, item.run, item.cause)
        shown = {**approval_json(item), "turn": turn}
        if item.kind == PUSH:
            shown["beside"] = beside(item, await self.store.of_task(item.task))
        return web.json_response(shown)

    async def try_on_record(self, request: web.Request) -> web.Response:
        """What its rule would have let through of 30 days' record: `{would_allow, denied_by_people, ...}`.

        `host` and `paths` of the body are tried in place of what was asked for. 503 when the log can't
        be read.
        """
        body = await body_of(request, Opening)
        try:
            found = await self.deciding.try_on_record(request.match_info["item"], _edits(body))
        except ValueError as error:
            raise BadInput(str(error)) from error
        return web.json_response(asdict(found))

    async def decide(self, request: web.Request) -> web.Response:
        """`once`, `run`, `rule`, `deny` or `revoke`, as a person. Answers `{approval, in_force, woken}`.

        `in_force` says whether it is done by now: whether the egress proxy has the rule, whether the
        push was sent (its `state` and `came` say what came of it). `woken`: whether the task goes on by
        it. 409 when it was decided already, or isn't decided like that: a push is allowed once or denied.
        """
        body = await body_of(request, Verdict)
        decision = Decision(
            verb=Verb(request.match_info["verb"]),
            user=body.user,
            note=body.note.strip(),
            edits=_edits(body),
            scope=body.scope,
            until=self._until(body.until),
        )
        try:
            done = await self.deciding.decide(request.match_info["item"], decision)
        except ValueError as error:
            raise BadInput(str(error)) from error
        return web.json_response(_decided_json(done))

    async def reaches(self, request: web.Request) -> web.Response:
        """What a run may reach of the internet now: `{rules, limits, left_out, wanted, applied}`.

        `wanted` and `applied` are the generations of the policy file, and of what the proxy has in
        force. 404 when the run isn't open.
        """
        run = request.match_info["run"]
        found = self.policy.compiled(RunId(run)) if self.policy else None
        if found is None or self.policy is None:
            raise NotFound(f"run {run[:64]} reaches nothing now: it is not open, or not known")
        wanted, applied = self.policy.generations()
        return web.json_response(
            {
                "wanted": wanted,
                "applied": applied,
                "rules": [rule_json(rule) for rule in found.rules],
                "limits": asdict(found.limits),
                "left_out": list(found.left_out),
            }
        )

    async def _item(self, request: web.Request) -> Approval:
        return await self.store.get(request.match_info["item"])

    def _until(self, until: datetime | None) -> datetime | None:
        if until is not None and until <= self.deciding.clock.now():
            raise BadInput("until: it is over already")
        return until


def _edits(body: Opening) -> Edits:
    return Edits(body.host, tuple(body.paths), body.arguments, body.bounds, body.mode)


def _decided_json(done: Decided) -> dict[str, Any]:
    return {
        "approval": approval_json(done.item),
        "in_force": done.in_force,
        "woken": done.woken,
    }
