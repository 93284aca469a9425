"""The kinds of items in the inbox: what can become of each, and what of it is said [pure].

A kind is a row of `KINDS`. What is done about it when it is decided: a `Handling` of
`orchestrator.approvals`; how it is sent, if it is: a `Sending` there.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from orchestrator.domain.approval import OPEN, Approval, ApprovalState, Verb, Verdict
from orchestrator.domain.item_transitions import (
    ACCEPTED,
    CALLED_ONCE,
    OPENED,
    REVOCABLE,
    SENT_ONCE,
    TOOL_OPENED,
    After,
)

EGRESS = "egress"
PUSH = "push"
CALL = "call"
CALL_RULE = "call_rule"
TOOL = "tool"
TOOL_CHANGE = "tool_change"
OWED = "owed"
"""In `came` of an item that is over, while there is still something to do about it."""


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of thing that is held."""

    name: str
    what: str
    """One of it, with its article."""
    after: After
    offers: str
    """What a person may decide about it, for whoever wanted something else."""
    over: frozenset[ApprovalState]
    """After these the same wish of the same run is a new one."""
    said: Mapping[ApprovalState, str]
    """On the task, of an item that has come there; what isn't here is said by its state's name."""
    answers: Mapping[ApprovalState, str]
    """What the agent is told when it asks for the same again."""
    results: Mapping[Verb, str] = field(default_factory=dict)
    """What the log says came of it, of what is sent once."""
    owes: bool = False
    """Whether there is something to do once it is over: to say it, and to drop what was kept."""


KINDS: Mapping[str, Kind] = {
    one.name: one
    for one in (
        Kind(
            EGRESS,
            "a request to the internet",
            OPENED,
            "it is allowed once, for the run or by a standing rule, or denied",
            over=frozenset({ApprovalState.EXPIRED, ApprovalState.REVOKED}),
            said={
                ApprovalState.ALLOWED_ONCE: "allowed once",
                ApprovalState.ALLOWED_RUN: "allowed for the run",
                ApprovalState.STANDING: "allowed by a standing rule",
                ApprovalState.DENIED: "denied",
                ApprovalState.REVOKED: "taken back",
            },
            answers={
                ApprovalState.WAITING: (
                    "A person has been asked ({item}). Go on with what you can do without it; what was "
                    "refused works once it is allowed, without another word. If you can't go on at all, "
                    "end the run by ask_questions: the decision starts the next one."
                ),
                ApprovalState.ALLOWED_ONCE: "It is allowed, once ({item}): try it now.",
                ApprovalState.ALLOWED_RUN: "It is allowed for this run ({item}): try it now.",
                ApprovalState.STANDING: "It is allowed ({item}): try it now.",
                ApprovalState.DENIED: (
                    "It was denied ({item}). Don't ask again in this run; find another way."
                ),
                ApprovalState.EXPIRED: "Nobody decided about it in time ({item}).",
                ApprovalState.REVOKED: "It was allowed, and taken back ({item}).",
            },
        ),
        Kind(
            PUSH,
            "a push",
            SENT_ONCE,
            "it is allowed once, as it was pushed, or denied; there is no standing rule for pushes",
            over=frozenset(
                {
                    ApprovalState.EXPIRED,
                    ApprovalState.REVOKED,
                    ApprovalState.FAILED,
                    ApprovalState.CONFLICT,
                }
            ),
            said={
                ApprovalState.ALLOWED: "allowed",
                ApprovalState.UNKNOWN: (
                    "sent, and whether it has arrived is not known yet; it was allowed"
                ),
                ApprovalState.RELEASED: "it is at the host now; allowed",
                ApprovalState.CONFLICT: "not sent, as the host has moved on; it was allowed",
                ApprovalState.FAILED: "not done; it was allowed",
                ApprovalState.DENIED: "denied",
                ApprovalState.EXPIRED: "nobody decided about it in time, and it was dropped",
                ApprovalState.REVOKED: "taken back before it was sent",
            },
            answers={
                ApprovalState.WAITING: (
                    "held as {item} for a person to decide: what you pushed is kept, and nothing needs to "
                    "be pushed again. Go on with what you can do without it; if you can't go on at all, "
                    "end the run by ask_questions"
                ),
                ApprovalState.ALLOWED: (
                    "held as {item}, and allowed: it is being sent, and nothing needs to be pushed again"
                ),
                ApprovalState.RELEASING: (
                    "held as {item}, and allowed: it is being sent, and nothing needs to be pushed again"
                ),
                ApprovalState.UNKNOWN: (
                    "held as {item}, allowed and sent; whether it has arrived is asked of the host, and "
                    "nothing needs to be pushed again"
                ),
                ApprovalState.RELEASED: "held as {item}, allowed, and at the host now: fetch to see it",
                ApprovalState.CONFLICT: (
                    "held as {item} and allowed, but others have moved the branch meanwhile: fetch, and "
                    "push anew"
                ),
                ApprovalState.FAILED: "held as {item} and allowed, but it could not be done",
                ApprovalState.DENIED: (
                    "denied ({item}): don't push it again as it is; change it, or find another way"
                ),
                ApprovalState.EXPIRED: "held as {item}; nobody decided about it in time",
                ApprovalState.REVOKED: "held as {item}, allowed, and taken back",
            },
            results={Verb.ARRIVE: "ok", Verb.DIVERGE: "conflict", Verb.FAIL: "refused"},
            owes=True,
        ),
        Kind(
            CALL,
            "a tool call",
            CALLED_ONCE,
            "it is allowed once, with a standing rule or without, or denied",
            over=frozenset(
                {
                    ApprovalState.EXPIRED,
                    ApprovalState.REVOKED,
                    ApprovalState.FAILED,
                    ApprovalState.RELEASED,
                    ApprovalState.UNANSWERED,
                }
            ),
            said={
                ApprovalState.ALLOWED: "allowed",
                ApprovalState.RELEASED: "done; allowed",
                ApprovalState.UNANSWERED: (
                    "sent once, and whether it was done is unknown, so it isn't sent again; allowed"
                ),
                ApprovalState.FAILED: "not done; it was allowed",
                ApprovalState.DENIED: "denied",
                ApprovalState.EXPIRED: "denied, as nobody decided about it in time",
                ApprovalState.REVOKED: "taken back before it was done",
            },
            answers={
                ApprovalState.WAITING: (
                    "Held for approval, {item}: nothing was done yet, and a person has been asked. Don't "
                    "call it again. Go on with what you can do without it; if you can't, end the run by "
                    "wait_for_decision, and you go on when it is decided, with what it answered."
                ),
                ApprovalState.ALLOWED: "Held for approval, {item}, and allowed: it is being done now.",
                ApprovalState.RELEASING: "Held for approval, {item}, and allowed: it is being done now.",
                ApprovalState.UNANSWERED: (
                    "Held for approval, {item}, allowed, and sent once; whether it was done is unknown. Find "
                    "out before you call it again."
                ),
                ApprovalState.RELEASED: "Held for approval, {item}, allowed, and done, once.",
                ApprovalState.FAILED: "Held for approval, {item}, and allowed, but it could not be done.",
                ApprovalState.DENIED: (
                    "It was denied ({item}). Don't call it again like that in this run; find another way."
                ),
                ApprovalState.EXPIRED: "Nobody decided about it in time ({item}): it counts as denied.",
                ApprovalState.REVOKED: "It was allowed, and taken back before it was done ({item}).",
            },
            results={Verb.ARRIVE: "ok", Verb.DIVERGE: "unknown", Verb.FAIL: "refused"},
            owes=True,
        ),
        Kind(
            TOOL,
            "a wish for a tool",
            TOOL_OPENED,
            "it is allowed for the run or by a standing rule, or denied",
            over=frozenset({ApprovalState.EXPIRED, ApprovalState.REVOKED}),
            said={
                ApprovalState.ALLOWED_RUN: "allowed for the run, or the task's next",
                ApprovalState.STANDING: "allowed by a standing rule",
                ApprovalState.DENIED: "denied",
                ApprovalState.REVOKED: "taken back",
            },
            answers={
                ApprovalState.WAITING: (
                    "A person has been asked ({item}). Go on with what you can do without it. If you "
                    "can't go on at all, end the run by wait_for_decision: you go on when it is decided, "
                    "and have the tool then if it is allowed."
                ),
                ApprovalState.ALLOWED_RUN: (
                    "It is granted ({item}): call it. If you aren't shown it yet, it is among your tools in "
                    "your next run."
                ),
                ApprovalState.STANDING: (
                    "It is granted ({item}): call it. If you aren't shown it yet, it is among your tools in "
                    "your next run."
                ),
                ApprovalState.DENIED: (
                    "It was denied ({item}). Don't ask again in this run; find another way."
                ),
                ApprovalState.EXPIRED: "Nobody decided about it in time ({item}).",
                ApprovalState.REVOKED: "It was granted, and taken back ({item}).",
            },
        ),
        Kind(
            CALL_RULE,
            "a standing rule for tool calls",
            REVOCABLE,
            "it can only be revoked",
            over=frozenset({ApprovalState.REVOKED, ApprovalState.EXPIRED}),
            said={
                ApprovalState.STANDING: "allowed by a standing rule",
                ApprovalState.REVOKED: "a standing rule for it was taken back",
                ApprovalState.EXPIRED: "a standing rule for it is over",
            },
            answers={},
        ),
        Kind(
            TOOL_CHANGE,
            "a change of a server's tools",
            ACCEPTED,
            "the tools are accepted as they are now, for all who use the connection, or denied",
            over=frozenset({ApprovalState.EXPIRED, ApprovalState.REVOKED}),
            said={
                ApprovalState.STANDING: "accepted as it is now",
                ApprovalState.DENIED: "denied as it is now, so its calls are refused",
                ApprovalState.EXPIRED: "nobody looked at it in time; it stays held",
                ApprovalState.REVOKED: "accepted before, and taken back",
            },
            answers={
                ApprovalState.WAITING: (
                    "Held, {item}: this tool is not as it was when a person looked at it, and one has been "
                    "asked to look. Nothing was done. Go on with what you can do without it, and call it "
                    "again later; if you can't go on, end the run by wait_for_decision, or, where nothing "
                    "of yours waits, by ask_questions."
                ),
            },
        ),
    )
}


def kind_of(item: Approval) -> Kind:
    """Its row. Raises: ValueError when there is no such kind here (an item of a newer Sandgate)."""
    kind = KINDS.get(item.kind)
    if kind is None:
        raise ValueError(f"{item.id} is of the kind {item.kind}, which is not known here")
    return kind


def conflict_of(item: Approval, verb: Verb) -> str:
    """Why that can't be done to the item now, as a sentence without its end; empty when it can."""
    kind = kind_of(item)
    if (item.state, verb) in kind.after:
        return ""
    if verb not in {one for _, one in kind.after}:
        return f"{item.id} is {kind.what}: {kind.offers}"
    by = f" by {item.decided_by}" if item.decided_by else ""
    return f"{item.id} is {item.state}{by}: {verb} can't follow"


def decided(item: Approval, verdict: Verdict) -> Approval:
    """The item after the verdict; its version goes up by one. Raises: ValueError when it can't follow."""
    after = moved_on(item, verdict.verb, item.came)
    kept = verdict.verb in {Verb.EXPIRE, Verb.REVOKE}
    return replace(
        after,
        decided_at=verdict.at,
        decided_by=verdict.by,
        note=verdict.note or item.note,
        granted=item.granted if kept else verdict.granted,
        granted_to=item.granted_to if kept else verdict.granted_to,
        scope=item.scope if kept else verdict.scope,
        until=item.until if kept else verdict.until,
    )


def moved_on(item: Approval, verb: Verb, came: Mapping[str, Any]) -> Approval:
    """The item after something that nobody has decided anew. Raises: ValueError when it can't follow."""
    if why := conflict_of(item, verb):
        raise ValueError(why)
    kind = kind_of(item)
    state = kind.after[item.state, verb]
    if kind.owes and state not in OPEN:
        came = {**came, OWED: True}
    return replace(item, state=state, came=came, version=item.version + 1)


def used_up(item: Approval) -> bool:
    """Whether the same wish of the same run is a new one: what was decided about it is over.

    Of what was allowed once the agent is told once; if it asks again after that, it has used it.
    """
    once = item.state is ApprovalState.ALLOWED_ONCE and item.told
    return once or item.state in kind_of(item).over
