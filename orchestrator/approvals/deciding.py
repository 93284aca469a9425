"""What people decide about items: stored first, then put into force, then said on the task.

A crash in between leaves nothing open that nobody allowed, and whatever was allowed is put into force
by the next look at what is stored.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import structlog

from entrance.errors import Conflict, Forbidden, NotFound, Unavailable
from entrance.session import RunId, TaskId
from orchestrator.approvals.ports import ApprovalStore, Recorded
from orchestrator.domain.access import BackTest, Edits, back_test, granted_of, rule_of, wanted_from
from orchestrator.domain.approval import (
    EGRESS,
    IN_FORCE,
    Approval,
    ApprovalState,
    Scope,
    ScopeKind,
    Verb,
    Verdict,
    conflict_of,
    decided,
)
from orchestrator.domain.inbox import comment_when_decided
from orchestrator.domain.run import Outcome, Run
from orchestrator.domain.supervision import AGENTS
from orchestrator.ports import Clock, Runs, Tracker
from proxy.policy import Rule

log = structlog.get_logger()

LOOKED_BACK = timedelta(days=30)
DENIED_LOOKED_AT = 1000
_OPENING = frozenset({Verb.ONCE, Verb.RUN, Verb.RULE})


@dataclass(frozen=True, slots=True)
class Decision:
    """What a person decides about an item. `scope` and `until` are for a standing rule."""

    verb: Verb
    user: str = ""
    """Who decides; empty: the supervisor of the engagement."""
    note: str = ""
    edits: Edits = field(default_factory=Edits)
    scope: ScopeKind = "engagement"
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Decided:
    """What came of it: `in_force` says whether the proxy has it now; `woken` whether the task has."""

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
    apply: Callable[[], Awaitable[bool]]
    """Puts what is stored into force; whether that was done in time."""
    wake: Callable[[TaskId, str, str], Awaitable[None]]
    """Has a task that waits for input go on, with these words of this user."""

    async def decide(self, item: str, decision: Decision) -> Decided:
        """Do what a person decides.

        Raises: NotFound; Conflict (decided already); Forbidden (an agent); ValueError (the edits).
        """
        before = await self.store.get(item)
        if why := conflict_of(before, decision.verb):
            raise Conflict(why)
        by = await self._decider(before, decision.user)
        run = await self._run(before.run)
        live = run is not None and run.active
        after = decided(before, self._verdict(before, decision, by, live=live))
        await self.store.replace(after)
        log.info("approval_decided", item=item, verb=decision.verb, by=by, run=before.run)
        opens = {before.state, after.state} & IN_FORCE
        in_force = await self.apply() if opens else True
        title, words = comment_when_decided(after)
        await self._say(after, title, words)
        woken = decision.verb is not Verb.REVOKE and await self._wake(after, run, words)
        return Decided(after, in_force, woken)

    async def try_on_record(self, item: str, edits: Edits) -> BackTest:
        """What the item's rule would have let through lately.

        Raises: NotFound; ValueError (the edits); Unavailable (the log can't be read).
        """
        rule = _rule(await self.store.get(item), edits, once=False)
        attempts = await self.recorded.attempts(self.clock.now() - LOOKED_BACK)
        denied = await self.store.listed(ApprovalState.DENIED, DENIED_LOOKED_AT)
        return back_test(rule, attempts, denied)

    def _verdict(self, item: Approval, decision: Decision, by: str, *, live: bool) -> Verdict:
        opens, standing = decision.verb in _OPENING, decision.verb is Verb.RULE
        rule = _rule(item, decision.edits, once=decision.verb is Verb.ONCE) if opens else None
        return Verdict(
            verb=decision.verb,
            by=by,
            at=self.clock.now(),
            note=decision.note,
            granted=granted_of(rule) if rule else {},
            granted_to=item.run if opens and not standing and live else "",
            scope=_scope(item, decision.scope) if standing else None,
            until=decision.until if standing else None,
        )

    async def _decider(self, item: Approval, user: str) -> str:
        hired = {one.id: one.supervisor for one in await self.tracker.engagements()}
        by = user or hired.get(item.engagement, "")
        if not by:
            raise Conflict(f"the engagement {item.engagement} is over: say as whom you decide")
        if by.startswith(AGENTS) or await self.tracker.agent(by):
            raise Forbidden(f"{by} is an agent's user: about this a person decides")
        return by

    async def _wake(self, item: Approval, run: Run | None, words: str) -> bool:
        """Have the task go on if its agent waits for this: its run ended by asking, and all is decided."""
        if run is None or run.active or run.outcome is not Outcome.ASKED:
            return False
        latest = await self.runs.latest(item.task)
        others = await self.store.of_run(item.run)
        waits = any(one.state is ApprovalState.WAITING for one in others)
        if waits or latest is None or latest.id != run.id:
            return False
        try:
            await self.wake(item.task, words, item.decided_by)
        except (Conflict, Forbidden, NotFound, Unavailable) as error:
            log.info("task_not_woken", task=item.task, why=str(error))
            return False
        return True

    async def _run(self, run: RunId) -> Run | None:
        try:
            return await self.runs.get(run)
        except NotFound:
            return None

    async def _say(self, item: Approval, title: str, words: str) -> None:
        """For people and for the agent's next run. An outage doesn't undo what is decided."""
        try:
            await self.tracker.comment(item.task, title, words)
        except (NotFound, Unavailable) as error:
            log.warning("approval_not_said", item=item.id, error=str(error))


def _rule(item: Approval, edits: Edits, *, once: bool) -> Rule:
    if item.kind != EGRESS:
        raise ValueError(f"{item.id} is no request to the internet")
    return rule_of(item.id, wanted_from(item.wanted), edits, once=once)


def _scope(item: Approval, kind: ScopeKind) -> Scope:
    ids = {"engagement": item.engagement, "agent": item.agent, "project": item.project}
    return Scope(kind, ids[kind])
