"""Pushes as people see them: what the log has of each, and of held ones the inbox [pure]."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from orchestrator.domain.approval import Approval, ApprovalState
from orchestrator.domain.kinds import PUSH


class PushState(StrEnum):
    """Where a push is."""

    TAKEN = "taken"
    REFUSED = "refused"
    DENIED = "denied"
    HELD = "held"
    SENDING = "sending"
    UNKNOWN = "unknown"


STATES: Mapping[PushState, str] = {
    PushState.TAKEN: "The host has it.",
    PushState.REFUSED: "It was let through, and the host refused it, or has moved on.",
    PushState.DENIED: "It was refused here, by a rule or by a person, and the host heard nothing of it.",
    PushState.HELD: "It waits for a person.",
    PushState.SENDING: "It was let through, and is on its way.",
    PushState.UNKNOWN: "It was let through, and what came of it is not known.",
}

_OF_RESULTS: Mapping[str, PushState] = {
    "ok": PushState.TAKEN,
    "refused": PushState.REFUSED,
    "conflict": PushState.REFUSED,
    "": PushState.SENDING,
}
_OF_ITEMS: Mapping[ApprovalState, PushState] = {
    ApprovalState.WAITING: PushState.HELD,
    ApprovalState.ALLOWED: PushState.SENDING,
    ApprovalState.RELEASING: PushState.SENDING,
    ApprovalState.UNKNOWN: PushState.UNKNOWN,
    ApprovalState.RELEASED: PushState.TAKEN,
    ApprovalState.CONFLICT: PushState.REFUSED,
    ApprovalState.FAILED: PushState.REFUSED,
    ApprovalState.DENIED: PushState.DENIED,
    ApprovalState.EXPIRED: PushState.DENIED,
    ApprovalState.REVOKED: PushState.DENIED,
}


@dataclass(frozen=True, slots=True)
class RecordedPush:
    """One push as the log has it. `detail` and `came` are the log's own facts of it and of its outcome."""

    seq: int
    at: datetime
    run: str
    task: str
    agent: str
    repository: str
    decision: str
    reason: str = ""
    rule: str = ""
    result: str = ""
    ended_at: datetime | None = None
    detail: Mapping[str, Any] = field(default_factory=dict)
    came: Mapping[str, Any] = field(default_factory=dict)

    @property
    def of_held(self) -> int:
        """The number of the held push that this is the end of; 0 when it is a push of its own."""
        held = self.detail.get("held")
        return held if isinstance(held, int) and self.detail.get("approval") else 0


@dataclass(frozen=True, slots=True)
class Push:
    """One push, and the item of the inbox by which it is, or was, decided."""

    recorded: RecordedPush
    state: PushState
    item: Approval | None = None
    end: RecordedPush | None = None
    """Of a held one: what the log has of its end."""
    again: bool = False
    """The agent has pushed again what was held already, and was told how that stands."""


def pushes(recorded: Iterable[RecordedPush], items: Iterable[Approval]) -> list[Push]:
    """Each, in the order in which they were recorded; a held one is one with its end."""
    recorded, items = list(recorded), [one for one in items if one.kind == PUSH]
    known = {one.wanted.get("decision"): one for one in items}
    same = {_moves(one.task, one.wanted, "moved"): one for one in reversed(items)}
    ends = {one.of_held: one for one in recorded if one.of_held}
    found = []
    for one in recorded:
        if one.of_held:
            continue
        item, end = known.get(one.seq), ends.get(one.seq)
        again = None
        if one.decision == "hold" and item is None:
            again = same.get(_moves(one.task, {**one.detail, "repository": one.repository}))
        state = _state(one, item or again, end)
        found.append(Push(one, state, item or again, end, again=again is not None))
    return found


def _moves(task: str, told: Mapping[str, Any], name: str = "updates") -> frozenset[str]:
    """What tells a push of a task from another, however often it is pushed."""
    moves = (f"{one.get('ref')} {one.get('old')} {one.get('new')}" for one in told.get(name, []))
    return frozenset((task, f"to {told.get('repository')}", *moves))


def refs_of(push: RecordedPush) -> Sequence[str]:
    """The refs that it was to move."""
    return [str(one.get("ref", "")) for one in push.detail.get("updates", [])]


def _state(one: RecordedPush, item: Approval | None, end: RecordedPush | None) -> PushState:
    if one.decision == "deny":
        return PushState.DENIED
    if one.decision == "allow":
        return _OF_RESULTS.get(one.result, PushState.UNKNOWN)
    if item is not None:
        return _OF_ITEMS.get(item.state, PushState.UNKNOWN)
    if end is not None:  # its item is gone with the operational state
        allowed = end.decision == "allow"
        return _OF_RESULTS.get(end.result, PushState.UNKNOWN) if allowed else PushState.DENIED
    return PushState.HELD
