"""What is said of items of the inbox: to people, on the task, and to the agent that asked [pure]."""

from collections.abc import Sequence
from datetime import UTC

from orchestrator.domain.access import Wanted
from orchestrator.domain.approval import Approval
from orchestrator.domain.egress import READING
from orchestrator.domain.kinds import kind_of

REASONS_SAID = 10
"""Of what was found in a push the comment has so many; the item has more."""


def what_happens(one: Wanted) -> str:
    """What happens when it is allowed, in a sentence."""
    methods = "GET and HEAD" if one.method in READING else one.method
    what = f"of {one.target.partition('?')[0]}" if one.target else "of every path"
    query = "; allowed once, with this very query only" if "?" in one.target else ""
    return f"The egress proxy lets {methods} requests {what} through to {one.origin}{query}. No other is."


def comment_when_asked(item: Approval) -> tuple[str, str]:
    """Title and words of the comment on the task."""
    why = f"Its reason: {item.why}" if item.why else "A rule holds such requests for a person."
    held = _reasons(item.wanted.get("reasons", ()))
    lines = [
        f"{item.agent} (run {item.run}) wants: {item.title}",
        *(held or [why]),
        f"If it is allowed: {item.happens}",
        f"Decide with `sandgate approvals show {item.id}`.",
    ]
    return f"Waits for a decision: {item.id}", "\n".join(lines)


def _reasons(reasons: Sequence[str]) -> list[str]:
    more = len(reasons) - REASONS_SAID
    said = [f"Held, because: {reason}" for reason in reasons[:REASONS_SAID]]
    return [*said, f"and {more} more."] if more > 0 else said


def comment_when_decided(item: Approval) -> tuple[str, str]:
    """Title and words of the comment on the task; the agent's next run gets to read it."""
    said = kind_of(item).said.get(item.state, str(item.state))
    scope = f" for {item.scope.kind} {item.scope.id}" if item.scope else ""
    until = f" until {item.until.astimezone(UTC):%Y-%m-%d %H:%M} UTC" if item.until else ""
    by = f" by {item.decided_by}" if item.decided_by else ""
    lines = [f"{item.title}: {said}{scope}{until}{by}."]
    if words := str(item.came.get("words", "")):
        lines.append(words if words.endswith((".", "!", "?")) else f"{words}.")
    if item.note:
        lines.append(item.note)
    return f"Decided: {item.id}", "\n".join(lines)


def answer_to_agent(item: Approval) -> str:
    """What happens next, for whoever asked."""
    said = kind_of(item).answers[item.state].format(item=item.id)
    return f"{said} {item.decided_by} says: {item.note}" if item.note else said
