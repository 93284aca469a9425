"""What the inbox does about one kind of item when a person decides: each kind has its own."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from orchestrator.approvals.ports import Recorded
from orchestrator.domain.access import (
    BackTest,
    Edits,
    back_test,
    granted_of,
    rule_of,
    wanted_from,
)
from orchestrator.domain.approval import IN_FORCE, Approval, Scope, ScopeKind, Verb
from orchestrator.domain.kinds import kind_of


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
class Granted:
    """What is allowed by a decision, to whom, and how long."""

    what: Mapping[str, Any] = field(default_factory=dict)
    to: str = ""
    """The run; empty: whoever `scope` says, or the task's next run."""
    scope: Scope | None = None
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Put:
    """What came of putting a decision into force at once. `item` is as it is then.

    `told`: all was said about it, on the task and to the agent (`woken`: its task goes on by it).
    """

    item: Approval
    in_force: bool
    told: bool = False
    woken: bool = False


@dataclass(frozen=True, slots=True)
class Record:
    """What a rule is tried on: what was recorded since then, and what people have denied."""

    recorded: Recorded
    since: datetime
    denied: Sequence[Approval]


class Handling(Protocol):
    """One kind's."""

    def granted(self, item: Approval, decision: Decision, *, live: bool) -> Granted:
        """What is allowed by a decision that allows; `live`: the run that asked goes on.

        Raises: ValueError when it can't be allowed like that.
        """
        ...

    async def forbidden(self, item: Approval, granted: Granted) -> str:
        """Why it could not be done as it would be allowed, as a sentence without its end; empty when it can.

        Looked at before anything is stored, where a person changed what was wanted. Raises: Unavailable.
        """
        ...

    async def tried(self, item: Approval, edits: Edits, record: Record) -> BackTest:
        """What the rule that would stand for it would have let through lately.

        Raises: ValueError, also where there are no such rules; Unavailable.
        """
        ...

    async def put(self, before: Approval, after: Approval) -> Put:
        """Put a decision into force that is stored by now. What fails is done by a later look."""
        ...


class WithoutRules:
    """For a kind of which no rule is made by deciding, and that no grant bears on: a base of its handling."""

    __slots__ = ()

    async def forbidden(self, item: Approval, granted: Granted) -> str:
        """Nothing forbids it."""
        del item, granted
        return ""

    async def tried(self, item: Approval, edits: Edits, record: Record) -> BackTest:
        """Raises: ValueError."""
        del edits, record
        raise ValueError(f"{item.id}: {kind_of(item).offers}")


@dataclass(frozen=True, slots=True)
class EgressHandling:
    """Requests to the internet: what is allowed becomes a rule of the proxy's policy."""

    apply: Callable[[], Awaitable[bool]]
    """Puts what is stored into force; whether that was done in time."""

    def granted(self, item: Approval, decision: Decision, *, live: bool) -> Granted:
        once, standing = decision.verb is Verb.ONCE, decision.verb is Verb.RULE
        rule = rule_of(item.id, wanted_from(item.wanted), decision.edits, once=once)
        return Granted(
            granted_of(rule),
            to=item.run if live and not standing else "",
            scope=scope_of(item, decision.scope) if standing else None,
            until=decision.until if standing else None,
        )

    async def forbidden(self, item: Approval, granted: Granted) -> str:
        del item, granted
        return ""

    async def tried(self, item: Approval, edits: Edits, record: Record) -> BackTest:
        rule = rule_of(item.id, wanted_from(item.wanted), edits)
        return back_test(rule, await record.recorded.attempts(record.since), record.denied)

    async def put(self, before: Approval, after: Approval) -> Put:
        opens = {before.state, after.state} & IN_FORCE
        return Put(after, await self.apply() if opens else True)


def scope_of(item: Approval, kind: ScopeKind) -> Scope:
    """Whose runs a standing rule made of the item is for."""
    ids = {"engagement": item.engagement, "agent": item.agent, "project": item.project}
    return Scope(kind, ids[kind])
