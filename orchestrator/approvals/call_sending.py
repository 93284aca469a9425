"""A held tool call that was allowed: what is looked at before it is sent, how, and what comes of it.

A tool can't be asked whether it has done something. So once it is claimed it is never sent again: what
a crash leaves in between is said to be unknown.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from entrance.decision import Allow, Deny
from entrance.errors import Conflict, Forbidden, NotFound
from entrance.git.standing import Place, Stand
from entrance.log.body_hash import hash_of_body
from entrance.log.records import Audit, Decided, Traffic, Whose
from entrance.mcp.canonical import canonical
from entrance.mcp.policy import Call, decide
from entrance.mcp.recorded import of_arguments
from entrance.ports import Cause, ToolResult
from entrance.session import Session
from orchestrator.approvals.call_rules import CallRules
from orchestrator.approvals.ports import ApprovalStore, Caller, Heard
from orchestrator.domain.access import item_id
from orchestrator.domain.approval import Approval, ApprovalState, Verb
from orchestrator.domain.calls import Sent, in_words, rule_item, sent_from, wanted_from
from orchestrator.domain.grants import session_for
from orchestrator.domain.kinds import CALL_RULE
from orchestrator.ports import Runs, Tracker

UNHEARD = "no answer was heard"
"""The server gave none, or the runner ended while it was being sent."""
_NEVER_SENT: Mapping[ApprovalState, str] = {
    ApprovalState.DENIED: "denied by {by}",
    ApprovalState.EXPIRED: "nobody decided about it in time",
    ApprovalState.REVOKED: "taken back by {by}",
}


@dataclass(frozen=True, slots=True)
class CallSending:
    """Implements `orchestrator.approvals.ports.Sending`."""

    caller: Caller
    store: ApprovalStore
    rules: CallRules
    runs: Runs
    tracker: Tracker
    audit: Audit
    redacted: Callable[[str], str] = str
    """Takes secrets out of what is written down, as far as their values are known."""

    async def may(self, item: Approval) -> str:
        try:
            sent = sent_from(item)
        except (KeyError, ValueError) as error:
            return str(error)
        session = await self._session(item)
        if isinstance(session, str):
            return session
        call = _call(item, sent)
        decision = decide(session, call).decision
        if isinstance(decision, Deny):
            return decision.reason
        return await self.caller.trouble(session, call)

    async def stand(self, item: Approval) -> Stand:
        if item.state is ApprovalState.ALLOWED:
            return Stand(Place.BEFORE)
        return Stand(Place.ELSEWHERE, UNHEARD)

    async def claim(self, item: Approval) -> Mapping[str, Any]:
        """The standing rule that was made with it comes first: it stands whatever the call comes to."""
        if item.scope is not None and "rule" in item.granted:
            made = rule_item(item, item_id(item.run, CALL_RULE, item.id, 0), CALL_RULE)
            with suppress(Conflict):  # an earlier look has made it
                await self.store.create(made)
            await self.rules.refresh()
            return {"rule": made.id}
        return {}

    def record(self, item: Approval, refused: str = "") -> Decided:
        one = wanted_from(item.wanted)
        sent = item.granted.get("arguments", one.arguments)
        return Decided(
            "tool_call",
            f"{one.connection}/{one.tool}",
            Deny(refused) if refused else Allow(),
            Whose(item.run, item.task, item.agent),
            detail={
                "approval": item.id,
                "by": item.decided_by,
                "held": one.decision,
                "edited": bool(item.granted.get("edited")),
                **of_arguments(sent, self.redacted),
            },
            rule=f"approval/{item.id}",
            cause=Cause(tool=one.shown[:200], call=str(item.cause.get("call", ""))),
            key=f"approval/{item.id}/{'refused' if refused else 'sent'}",
        )

    def told(self, item: Approval, verb: Verb, words: str) -> Mapping[str, Any]:
        del item, verb
        return {"settled": words}

    async def send(self, item: Approval) -> Heard:
        session = await self._session(item)
        if isinstance(session, str):
            raise Forbidden(session)
        try:
            call = _call(item, sent_from(item))
        except ValueError as error:
            raise Conflict(str(error)) from error
        result = await self.caller.call(session, call)
        return Heard(None, UNHEARD) if result is None else _heard(call, result)

    async def over(self, item: Approval) -> None:
        if item.state in _NEVER_SENT:
            why = _NEVER_SENT[item.state].format(by=item.decided_by)
            await self.audit.decided(self.record(item, f"{why}: {item.note}" if item.note else why))

    async def sweep(self, needed: Sequence[Approval]) -> None:
        """Nothing is kept but the item itself."""

    async def _session(self, item: Approval) -> Session | str:
        """The session that the run would have now, or why it would have none."""
        hired = {one.id: one for one in await self.tracker.engagements()}
        engagement = hired.get(item.engagement)
        if engagement is None or engagement.bot != item.agent:
            return "the engagement is over"
        if await self.tracker.agent(item.agent) is None:
            return f"{item.agent} is no agent any more"
        task = await self.tracker.task(item.task)
        if task is None:
            return "the task is gone"
        try:
            run = await self.runs.get(item.run)
        except NotFound:
            return "its run is not known any more"
        session = session_for(run, task, engagement, address="", token_sha256="")
        return self.rules.with_opened(session)


def _call(item: Approval, sent: Sent) -> Call:
    return Call(item.wanted["connection"], item.wanted["tool"], sent.arguments)


def _heard(call: Call, result: ToolResult) -> Heard:
    sent = hash_of_body(canonical(call.arguments).encode())
    body = result.text.encode(errors="replace")
    detail = {
        "touched": list(result.touched),
        "chars": len(result.text),
        "error": result.is_error,
        "result_sha256": sha256(body).hexdigest(),
    }
    return Heard(Verb.ARRIVE, in_words(result), detail, Traffic.of(sent, hash_of_body(body)))
