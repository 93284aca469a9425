"""What an agent wants and a person decides: the item in the inbox, and what can become of it [pure].

It is the same for whatever is held: `kind` says what `wanted` and `granted` mean (`egress`: a request
to the internet, and the rule that lets it through).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Any, Literal

from entrance.session import RunId, TaskId

EGRESS = "egress"


class ApprovalState(StrEnum):
    """Where an item is."""

    WAITING = "waiting"
    ALLOWED_ONCE = "allowed_once"
    ALLOWED_RUN = "allowed_run"
    STANDING = "standing"
    DENIED = "denied"
    EXPIRED = "expired"
    REVOKED = "revoked"


class Verb(StrEnum):
    """What is done to an item."""

    ONCE = "once"
    RUN = "run"
    RULE = "rule"
    DENY = "deny"
    EXPIRE = "expire"
    REVOKE = "revoke"


AFTER: Mapping[tuple[ApprovalState, Verb], ApprovalState] = {
    (ApprovalState.WAITING, Verb.ONCE): ApprovalState.ALLOWED_ONCE,
    (ApprovalState.WAITING, Verb.RUN): ApprovalState.ALLOWED_RUN,
    (ApprovalState.WAITING, Verb.RULE): ApprovalState.STANDING,
    (ApprovalState.WAITING, Verb.DENY): ApprovalState.DENIED,
    (ApprovalState.WAITING, Verb.EXPIRE): ApprovalState.EXPIRED,
    (ApprovalState.ALLOWED_ONCE, Verb.EXPIRE): ApprovalState.EXPIRED,
    (ApprovalState.ALLOWED_RUN, Verb.EXPIRE): ApprovalState.EXPIRED,
    (ApprovalState.STANDING, Verb.EXPIRE): ApprovalState.EXPIRED,
    (ApprovalState.STANDING, Verb.REVOKE): ApprovalState.REVOKED,
    (ApprovalState.ALLOWED_ONCE, Verb.REVOKE): ApprovalState.REVOKED,
    (ApprovalState.ALLOWED_RUN, Verb.REVOKE): ApprovalState.REVOKED,
}
"""What may follow what; whatever isn't here can't be done."""

STATES: Mapping[ApprovalState, str] = {
    ApprovalState.WAITING: "A person has to decide.",
    ApprovalState.ALLOWED_ONCE: "Allowed for one request of the run that asked, or of its task's next run.",
    ApprovalState.ALLOWED_RUN: "Allowed until the run that asked is over, or its task's next run.",
    ApprovalState.STANDING: "Allowed to all runs of its scope, until its day or until it is revoked.",
    ApprovalState.DENIED: "Denied; asking again in the same run changes nothing.",
    ApprovalState.EXPIRED: "Nobody decided in time, or what was allowed is over: the run, or the rule's day.",
    ApprovalState.REVOKED: "Allowed once, and taken back since.",
}

IN_FORCE = frozenset(
    {ApprovalState.ALLOWED_ONCE, ApprovalState.ALLOWED_RUN, ApprovalState.STANDING}
)
"""Those that open something."""
OF_A_RUN = frozenset({ApprovalState.ALLOWED_ONCE, ApprovalState.ALLOWED_RUN})
"""Those that open it to one run."""

type ScopeKind = Literal["engagement", "agent", "project"]


@dataclass(frozen=True, slots=True)
class Scope:
    """Whose runs a standing rule is for: those of an engagement, an agent's, or a project's."""

    kind: ScopeKind
    id: str
    """The engagement's work item, the agent's bot user, or the project."""


@dataclass(frozen=True, slots=True)
class Approval:
    """One item: who wants what and why, and what was decided. `version` counts its changes."""

    id: str
    kind: str
    run: RunId
    task: TaskId
    project: str
    agent: str
    engagement: str
    wanted: Mapping[str, Any]
    """The exact thing, as its kind has it."""
    title: str
    """The same in a line, for people."""
    happens: str
    """What happens when it is allowed, in a sentence."""
    why: str
    """The agent's reason; empty when nobody gave one."""
    asked_at: datetime
    cause: Mapping[str, Any] = field(default_factory=dict)
    """What of the run was open then."""
    state: ApprovalState = ApprovalState.WAITING
    decided_at: datetime | None = None
    decided_by: str = ""
    note: str = ""
    granted: Mapping[str, Any] = field(default_factory=dict)
    """What was allowed, as its kind has it."""
    granted_to: str = ""
    """The run that it is allowed to; empty while its task's next run is waited for."""
    told: bool = False
    """Whether the agent was told that it is allowed once."""
    scope: Scope | None = None
    until: datetime | None = None
    version: int = 0

    def opens(self, at: datetime) -> bool:
        """Whether it opens anything then."""
        return self.state in IN_FORCE and (self.until is None or at < self.until)

    def is_for(self, run: RunId, engagement: str, agent: str, project: str) -> bool:
        """Whether what it opens is open to that run."""
        if self.state is not ApprovalState.STANDING:
            return self.granted_to == run
        ids = {"engagement": engagement, "agent": agent, "project": project}
        return self.scope is not None and ids[self.scope.kind] == self.scope.id


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is decided about an item, by whom, when, in whose words."""

    verb: Verb
    by: str
    at: datetime
    note: str = ""
    granted: Mapping[str, Any] = field(default_factory=dict)
    granted_to: str = ""
    scope: Scope | None = None
    until: datetime | None = None


def conflict_of(item: Approval, verb: Verb) -> str:
    """Why that can't be done to the item now, as a sentence without its end; empty when it can."""
    if (item.state, verb) in AFTER:
        return ""
    by = f" by {item.decided_by}" if item.decided_by else ""
    return f"{item.id} is {item.state}{by}: {verb} can't follow"


def decided(item: Approval, verdict: Verdict) -> Approval:
    """The item after the verdict; its version goes up by one. Raises: ValueError when it can't follow."""
    if why := conflict_of(item, verdict.verb):
        raise ValueError(why)
    kept = verdict.verb in {Verb.EXPIRE, Verb.REVOKE}
    return replace(
        item,
        state=AFTER[item.state, verdict.verb],
        decided_at=verdict.at,
        decided_by=verdict.by,
        note=verdict.note or item.note,
        granted=item.granted if kept else verdict.granted,
        granted_to=item.granted_to if kept else verdict.granted_to,
        scope=item.scope if kept else verdict.scope,
        until=item.until if kept else verdict.until,
        version=item.version + 1,
    )


def used_up(item: Approval) -> bool:
    """Whether the same wish of the same run is a new one: what was decided about it is over.

    Of what was allowed once the agent is told once; if it asks again after that, it has used it.
    """
    once = item.state is ApprovalState.ALLOWED_ONCE and item.told
    return once or item.state in {ApprovalState.EXPIRED, ApprovalState.REVOKED}
