"""A held push: how its item has it, what people read of it, and whether it may still be done [pure]."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from entrance.decision import Allow
from entrance.git.refs import RefUpdate, decide_push
from entrance.git.standing import SHOWN, branch
from entrance.ports import HeldPush, Moved
from entrance.session import RepoGrant
from orchestrator.domain.grants import door_name, grant_for
from orchestrator.domain.task import Task
from orchestrator.domain.team import Agent, Engagement

COMMITS_KEPT = 200
REASONS_KEPT = 50
LONGEST_REASON = 500
"""Of what is longer an item has the beginning; the egress log has all of it."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A held push, as its item has it."""

    kept: str
    """Under which name its bytes are kept."""
    sha256: str
    size_bytes: int
    repository: str
    url: str
    moved: tuple[Moved, ...]
    commits: tuple[str, ...]
    commits_in_all: int
    reasons: tuple[str, ...]
    decision: int
    """The sequence number of the log's record of it."""


def wanted_of(push: HeldPush) -> Wanted:
    """What a person decides about."""
    reasons = [" ".join(reason.split())[:LONGEST_REASON] for reason in push.reasons[:REASONS_KEPT]]
    return Wanted(
        kept=push.id,
        sha256=push.sha256,
        size_bytes=push.size_bytes,
        repository=push.repository.name,
        url=push.repository.url,
        moved=push.moved,
        commits=push.commits[-COMMITS_KEPT:],
        commits_in_all=len(push.commits),
        reasons=tuple(reasons),
        decision=push.decision,
    )


def wanted_json(one: Wanted) -> dict[str, Any]:
    """As the item keeps it."""
    return {
        "kept": one.kept,
        "sha256": one.sha256,
        "size_bytes": one.size_bytes,
        "repository": one.repository,
        "url": one.url,
        "moved": [{"ref": each.ref, "old": each.old, "new": each.new} for each in one.moved],
        "commits": list(one.commits),
        "commits_in_all": one.commits_in_all,
        "reasons": list(one.reasons),
        "decision": one.decision,
    }


def wanted_from(data: Mapping[str, Any]) -> Wanted:
    """The reverse. Raises: KeyError, TypeError."""
    return Wanted(
        kept=data["kept"],
        sha256=data["sha256"],
        size_bytes=data["size_bytes"],
        repository=data["repository"],
        url=data["url"],
        moved=tuple(Moved(each["ref"], each["old"], each["new"]) for each in data["moved"]),
        commits=tuple(data["commits"]),
        commits_in_all=data["commits_in_all"],
        reasons=tuple(data["reasons"]),
        decision=data["decision"],
    )


def identity_of(one: Wanted) -> str:
    """The same for the same move of the same branches, however it is packed."""
    moves = sorted(f"{each.ref} {each.old} {each.new}" for each in one.moved)
    return "\n".join([one.repository, *moves])


def title_of(one: Wanted) -> str:
    """In a line."""
    names = [branch(each.ref) for each in one.moved]
    what = names[0] if len(names) == 1 else f"{len(names)} branches ({', '.join(names)[:200]})"
    return f"push {what} to {one.repository}, {_commits(one.commits_in_all)}"


def what_happens(one: Wanted) -> str:
    """What happens when it is allowed, in a sentence."""
    moves = "; ".join(_moves(each) for each in one.moved[:10])
    more = f"; and {len(one.moved) - 10} more" if len(one.moved) > 10 else ""  # noqa: PLR2004
    return (
        f"The {one.size_bytes} bytes that are kept are sent once to {one.url}: {moves}{more}. "
        "If others have moved a branch meanwhile, nothing is sent."
    )


def may_still(
    one: Wanted,
    item: str,
    *,
    engagement: Engagement | None,
    agent: Agent | None,
    task: Task | None,
) -> RepoGrant | str:
    """The grant by which it is sent, or why it may not be sent any more, as a sentence without its end.

    `item` is the task's id inside its project; `engagement` is None when it is over.
    """
    if engagement is None:
        return "the engagement is over"
    if agent is None:
        return f"{engagement.bot} is no agent any more"
    if task is None:
        return "the task is gone"
    repository = grant_for(engagement.grants, one.url)
    if (
        repository is None
        or not repository.push
        or task.repository.rstrip("/") != one.url.rstrip("/")
    ):
        return f"{one.repository} is not granted for pushing any more"
    updates = [RefUpdate(each.old, each.new, each.ref.encode()) for each in one.moved]
    decision = decide_push(updates, item, task.continues).decision
    if not isinstance(decision, Allow):
        return decision.reason
    return RepoGrant(
        door_name(repository.url), repository.url, push=True, credential=repository.credential
    )


def _moves(one: Moved) -> str:
    old = f"from {one.old[:SHOWN]}" if one.old.strip("0") else "new"
    return f"{branch(one.ref)} ({old}) to {one.new[:SHOWN]}"


def _commits(number: int) -> str:
    return f"{number} commit{'' if number == 1 else 's'}"
