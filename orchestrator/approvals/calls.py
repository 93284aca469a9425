"""Tool calls that the gateway holds become items, and what people decide about them is done."""

from dataclasses import dataclass, replace

from entrance.ports import HeldCall
from orchestrator.approvals.call_rules import CallRules
from orchestrator.approvals.handling import (
    Decision,
    Granted,
    Put,
    Record,
    WithoutRules,
    scope_of,
)
from orchestrator.approvals.items import Items, Wish
from orchestrator.approvals.releasing import Releasing
from orchestrator.domain.access import BackTest, Edits
from orchestrator.domain.approval import OPEN, Approval, Verb
from orchestrator.domain.call_test import back_test
from orchestrator.domain.calls import (
    WantedCall,
    bounds_of,
    granted_json,
    identity_of,
    sent_of,
    title_of,
    wanted_from,
    wanted_json,
    wanted_of,
    what_happens,
)
from orchestrator.domain.inbox import answer_to_agent
from orchestrator.domain.kinds import CALL, kind_of, used_up

PATIENCE_S = 20.0
"""So long whoever allows a call waits to hear what came of it; it goes on in any case."""


@dataclass(frozen=True, slots=True)
class HeldCalls:
    """Implements `entrance.ports.CallInbox`."""

    items: Items

    async def ask(self, call: HeldCall) -> str:
        one = wanted_of(call)
        run, exact = call.session.run, identity_of(one)
        async with self.items.one_at_a_time:
            known, turn = await self.items.newest(run, CALL, exact)
            found = await self._of_task(call, exact) or known
            if found and (not used_up(found) or not found.told):
                return await self._told(found)
            made = await self.items.made(run, _wish(one, exact, call), turn)
        await self.items.say(made)
        return answer_to_agent(made)

    async def _of_task(self, call: HeldCall, exact: str) -> Approval | None:
        """The same call of the task, of whichever run: an open one, or one whose end was not told yet."""
        same = [
            each
            for each in await self.items.store.of_task(call.session.task)
            if each.kind == CALL and identity_of(wanted_from(each.wanted)) == exact
        ]
        return next((one for one in same if one.state in OPEN or _untold(one)), None)

    async def _told(self, found: Approval) -> str:
        """How it stands. What came of it is told once: who asks after that wants it anew."""
        if _untold(found):
            await self.items.store.replace(replace(found, told=True, version=found.version + 1))
        words = str(found.came.get("words", ""))
        return f"{answer_to_agent(found)} {words}".strip()


def _untold(item: Approval) -> bool:
    return item.state in kind_of(item).over and not item.told


@dataclass(frozen=True, slots=True)
class CallHandling:
    """Tool calls: what is allowed is the held arguments, or a person's own, sent once."""

    releasing: Releasing
    patience_s: float = PATIENCE_S

    def granted(self, item: Approval, decision: Decision, *, live: bool) -> Granted:
        del live
        one, edits = wanted_from(item.wanted), decision.edits
        if edits.host or edits.paths:
            raise ValueError(f"{item.id} is a tool call: it has no host and no paths")
        sent = sent_of(one, edits.arguments)
        if decision.verb is not Verb.RULE:
            if edits.bounds is not None:
                raise ValueError(f"{item.id}: bounds are for a standing rule")
            return Granted(granted_json(sent))
        return Granted(
            granted_json(sent, bounds_of(one, sent, edits.bounds)),
            scope=scope_of(item, decision.scope),
            until=decision.until,
        )

    async def forbidden(self, item: Approval, granted: Granted) -> str:
        """A person's arguments are held against the grants, the scopes and the tool's schema, as any are."""
        if not granted.what.get("edited"):
            return ""
        as_allowed = replace(item, granted=granted.what)
        why = await self.releasing.sendings[item.kind].may(as_allowed)
        return f"with these arguments it can't be made: {why}" if why else ""

    async def tried(self, item: Approval, edits: Edits, record: Record) -> BackTest:
        one = wanted_from(item.wanted)
        bounds = bounds_of(one, sent_of(one, edits.arguments), edits.bounds)
        calls = await record.recorded.calls(record.since)
        return back_test(one, bounds, calls, record.denied)

    async def put(self, before: Approval, after: Approval) -> Put:
        del before
        return await self.releasing.put(after, self.patience_s)


@dataclass(frozen=True, slots=True)
class CallRuleHandling(WithoutRules):
    """Standing rules for tool calls: there they are taken back."""

    rules: CallRules

    def granted(self, item: Approval, decision: Decision, *, live: bool) -> Granted:
        del decision, live
        raise ValueError(f"{item.id}: {kind_of(item).offers}")

    async def put(self, before: Approval, after: Approval) -> Put:
        del before
        return Put(after, await self.rules.refresh())


def _wish(one: WantedCall, exact: str, call: HeldCall) -> Wish:
    return Wish(
        kind=CALL,
        exact=exact,
        title=title_of(one),
        happens=what_happens(one, call.session.agent),
        wanted=wanted_json(one),
        cause={"asked_by": f"the rule {one.rule}", "tool": one.shown, "call": call.call},
    )
