"""What an agent wants and a person decides: the item in the inbox, and what can become of it [pure].

It is the same for whatever is held: `kind` says what `wanted`, `granted` and `came` mean, and what may
follow what (`orchestrator.domain.kinds`).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Literal

from entrance.session import RunId, TaskId


class ApprovalState(StrEnum):
    """Where an item is."""

    WAITING = "waiting"
    ALLOWED_ONCE = "allowed_once"
    ALLOWED_RUN = "allowed_run"
    STANDING = "standing"
    ALLOWED = "allowed"
    RELEASING = "releasing"
    UNKNOWN = "unknown"
    RELEASED = "released"
    CONFLICT = "conflict"
    UNANSWERED = "unanswered"
    FAILED = "failed"
    DENIED = "denied"
    EXPIRED = "expired"
    REVOKED = "revoked"


class Verb(StrEnum):
    """What is done to an item: by people, by time, and to what is sent once by its release."""

    ONCE = "once"
    RUN = "run"
    RULE = "rule"
    DENY = "deny"
    EXPIRE = "expire"
    REVOKE = "revoke"
    CLAIM = "claim"
    LOSE = "lose"
    ARRIVE = "arrive"
    DIVERGE = "diverge"
    FAIL = "fail"


STATES: Mapping[ApprovalState, str] = {
    ApprovalState.WAITING: "A person has to decide.",
    ApprovalState.ALLOWED_ONCE: "Allowed for one request of the run that asked, or of its task's next run.",
    ApprovalState.ALLOWED_RUN: "Allowed until the run that asked is over, or its task's next run.",
    ApprovalState.STANDING: "Allowed to all runs of its scope, until its day or until it is revoked.",
    ApprovalState.ALLOWED: "Allowed; nothing was sent yet. While its host can't be reached it stays so.",
    ApprovalState.RELEASING: "It was taken to be sent: from here on it may have arrived.",
    ApprovalState.UNKNOWN: (
        "It was sent, no answer was heard, and the host can't be asked now. It is asked again and again; "
        "nothing is sent before it has said that nothing arrived."
    ),
    ApprovalState.RELEASED: "It has arrived.",
    ApprovalState.CONFLICT: "What it was to change was changed by others meanwhile; it was not sent.",
    ApprovalState.UNANSWERED: (
        "It was sent once, no answer was heard, and nobody can be asked: whether it was done is unknown. It "
        "is not sent again."
    ),
    ApprovalState.FAILED: (
        "Allowed, and not done: the host refused it, it may not be done any more, or its bytes are gone."
    ),
    ApprovalState.DENIED: "Denied; asking again in the same run changes nothing.",
    ApprovalState.EXPIRED: "Nobody decided in time, or what was allowed is over: the run, or the rule's day.",
    ApprovalState.REVOKED: "Allowed, and taken back since.",
}

IN_FORCE = frozenset(
    {ApprovalState.ALLOWED_ONCE, ApprovalState.ALLOWED_RUN, ApprovalState.STANDING}
)
"""Those that open something."""
OF_A_RUN = frozenset({ApprovalState.ALLOWED_ONCE, ApprovalState.ALLOWED_RUN})
"""Those that open it to one run."""
UNDER_WAY = frozenset({ApprovalState.ALLOWED, ApprovalState.RELEASING, ApprovalState.UNKNOWN})
"""Those of what is sent once that go on by themselves."""
OPEN = UNDER_WAY | {ApprovalState.WAITING}
"""Those of which it isn't clear yet what comes of them."""

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
    came: Mapping[str, Any] = field(default_factory=dict)
    """What has come of it since, as its kind has it."""
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
        """Whether what it opens is open to that run.

        Who is let go and hired into the project again has another engagement: it is for that one, too.
        """
        if self.state is not ApprovalState.STANDING:
            return self.granted_to == run
        if self.scope is None:
            return False
        ids = {"engagement": engagement, "agent": agent, "project": project}
        again = (self.agent, self.project) == (agent, project)
        own = self.scope.kind == "engagement" and self.scope.id == self.engagement
        return ids[self.scope.kind] == self.scope.id or (own and again)


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
