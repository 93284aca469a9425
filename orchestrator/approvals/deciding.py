"""What people decide about items: stored first, then put into force, then said on the task.

A crash in between leaves nothing open that nobody allowed, and whatever was allowed is put into force
by the next look at what is stored.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

import structlog

from entrance.errors import Conflict, Forbidden, NotFound, Unavailable
from entrance.session import RunId
from orchestrator.approvals.handling import Decision, Granted, Handling, Record
from orchestrator.approvals.ports import ApprovalStore, Recorded, Rights
from orchestrator.approvals.waking import Waking
from orchestrator.domain.access import BackTest, Edits
from orchestrator.domain.approval import Approval, ApprovalState, Verb, Verdict
from orchestrator.domain.inbox import comment_when_decided
from orchestrator.domain.kinds import conflict_of, decided, kind_of
from orchestrator.domain.supervision import AGENTS
from orchestrator.domain.two_people import first_of_two
from orchestrator.ports import Clock, Runs, Tracker

log = structlog.get_logger()

LOOKED_BACK = timedelta(days=30)
DENIED_LOOKED_AT = 1000
_OPENING = frozenset({Verb.ONCE, Verb.RUN, Verb.RULE})


@dataclass(frozen=True, slots=True)
class Decided:
    """What came of it: `in_force` says whether it is done by now; `woken` whether the task goes on."""

    item: Approval
    in_force: bool
    woken: bool


@dataclass(frozen=True, slots=True)
class Deciding:
    """Has items decided."""

    store: ApprovalStore
    runs: Runs
    tracker: Tracker
    clock: Clock
    recorded: Recorded
    handlings: Mapping[str, Handling]
    """What is done about each kind."""
    waking: Waking
    rights: Rights | None = None
    """None: whoever is no agent may decide."""

    async def decide(self, item: str, decision: Decision) -> Decided:
        """Do what a person decides.

        Raises: NotFound; Conflict (decided already, not of this kind, or by the same of two people);
        Forbidden (an agent, or without a role);
        ValueError (the edits won't do, or what they make of it is forbidden); Unavailable.
        """
        before = await self.store.get(item)
        handling = self._handling(before)
        if why := conflict_of(before, decision.verb):
            raise Conflict(why)
        by = await self._decider(before, decision.user)
        granted = Granted()
        if decision.verb in _OPENING:
            granted = handling.granted(before, decision, live=await self._live(before.run))
            if why := await handling.forbidden(before, granted):
                raise ValueError(f"{item}: {why}")
            if first := first_of_two(before, granted.what, by, self.clock.now()):
                await self.store.replace(first)
                log.info("approval_half_given", item=item, by=by, run=before.run)
                return Decided(first, in_force=False, woken=False)
        after = decided(before, self._verdict(decision, by, granted))
        await self.store.replace(after)
        log.info("approval_decided", item=item, verb=decision.verb, by=by, run=before.run)
        put = await handling.put(before, after)
        if put.told:
            return Decided(put.item, put.in_force, put.woken)
        title, words = comment_when_decided(put.item)
        await self._say(put.item, title, words)
        woken = decision.verb is not Verb.REVOKE and await self.waking.woken(put.item, words)
        return Decided(put.item, put.in_force, woken)

    async def try_on_record(self, item: str, edits: Edits) -> BackTest:
        """What the item's rule would have let through lately.

        Raises: NotFound; ValueError (the edits, or no rule can stand for it); Unavailable (the log
        can't be read).
        """
        found = await self.store.get(item)
        denied = await self.store.listed(ApprovalState.DENIED, DENIED_LOOKED_AT)
        record = Record(self.recorded, self.clock.now() - LOOKED_BACK, denied)
        return await self._handling(found).tried(found, edits, record)

    def _verdict(self, decision: Decision, by: str, granted: Granted) -> Verdict:
        return Verdict(
            verb=decision.verb,
            by=by,
            at=self.clock.now(),
            note=decision.note,
            granted=granted.what,
            granted_to=granted.to,
            scope=granted.scope,
            until=granted.until,
        )

    def _handling(self, item: Approval) -> Handling:
        kind = kind_of(item)
        if kind.name not in self.handlings:
            raise ValueError(f"{item.id} is {kind.what}, about which nothing can be decided here")
        return self.handlings[kind.name]

    async def _decider(self, item: Approval, user: str) -> str:
        hired = {one.id: one.supervisor for one in await self.tracker.engagements()}
        supervisor = hired.get(item.engagement, "")
        by = user or supervisor
        if not by:
            raise Conflict(f"the engagement {item.engagement} is over: say as whom you decide")
        if by.startswith(AGENTS) or await self.tracker.agent(by):
            raise Forbidden(f"{by} is an agent's user: about this a person decides")
        if self.rights and by != supervisor and not await self.rights.may_decide(by, item.project):
            raise Forbidden(f"{by} has no role in {item.project} by which this could be decided")
        return by

    async def _live(self, run: RunId) -> bool:
        try:
            return (await self.runs.get(run)).active
        except NotFound:
            return False

    async def _say(self, item: Approval, title: str, words: str) -> None:
        """For people and for the agent's next run. An outage doesn't undo what is decided."""
        try:
            await self.tracker.comment(item.task, title, words)
        except (NotFound, Unavailable) as error:
            log.warning("approval_not_said", item=item.id, error=str(error))
