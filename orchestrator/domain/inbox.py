"""What is said of items of the inbox: to people, on the task, and to the agent that asked [pure]."""

from collections.abc import Mapping
from datetime import UTC

from orchestrator.domain.access import Wanted
from orchestrator.domain.approval import Approval, ApprovalState
from orchestrator.domain.egress import READING


def what_happens(one: Wanted) -> str:
    """What happens when it is allowed, in a sentence."""
    methods = "GET and HEAD" if one.method in READING else one.method
    what = f"of {one.target.partition('?')[0]}" if one.target else "of every path"
    query = "; allowed once, with this very query only" if "?" in one.target else ""
    return f"The egress proxy lets {methods} requests {what} through to {one.origin}{query}. No other is."


def comment_when_asked(item: Approval) -> tuple[str, str]:
    """Title and words of the comment on the task."""
    why = f"Its reason: {item.why}" if item.why else "A rule holds such requests for a person."
    lines = [
        f"{item.agent} (run {item.run}) wants: {item.title}",
        why,
        f"If it is allowed: {item.happens}",
        f"Decide with `sandgate approvals show {item.id}`.",
    ]
    return f"Waits for a decision: {item.id}", "\n".join(lines)


_SAID: Mapping[ApprovalState, str] = {
    ApprovalState.ALLOWED_ONCE: "allowed once",
    ApprovalState.ALLOWED_RUN: "allowed for the run",
    ApprovalState.STANDING: "allowed by a standing rule",
    ApprovalState.DENIED: "denied",
    ApprovalState.REVOKED: "taken back",
}


def comment_when_decided(item: Approval) -> tuple[str, str]:
    """Title and words of the comment on the task; the agent's next run gets to read it."""
    said = _SAID.get(item.state, str(item.state))
    scope = f" for {item.scope.kind} {item.scope.id}" if item.scope else ""
    until = f" until {item.until.astimezone(UTC):%Y-%m-%d %H:%M} UTC" if item.until else ""
    lines = [f"{item.title}: {said}{scope}{until} by {item.decided_by}."]
    if item.note:
        lines.append(item.note)
    return f"Decided: {item.id}", "\n".join(lines)


ANSWERS: Mapping[ApprovalState, str] = {
    ApprovalState.WAITING: (
        "A person has been asked ({item}). Go on with what you can do without it; what was refused "
        "works once it is allowed, without another word. If you can't go on at all, end the run by "
        "ask_questions: the decision starts the next one."
    ),
    ApprovalState.ALLOWED_ONCE: "It is allowed, once ({item}): try it now.",
    ApprovalState.ALLOWED_RUN: "It is allowed for this run ({item}): try it now.",
    ApprovalState.STANDING: "It is allowed ({item}): try it now.",
    ApprovalState.DENIED: "It was denied ({item}). Don't ask again in this run; find another way.",
    ApprovalState.EXPIRED: "Nobody decided about it in time ({item}).",
    ApprovalState.REVOKED: "It was allowed, and taken back ({item}).",
}
"""What the agent is told at once, by the item's state."""


def answer_to_agent(item: Approval) -> str:
    """What happens next, for whoever asked."""
    said = ANSWERS[item.state].format(item=item.id)
    return f"{said} {item.decided_by} says: {item.note}" if item.note else said
