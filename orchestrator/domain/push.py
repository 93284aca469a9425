"""A held push: how its item has it, what people read of it, and whether it may still be done [pure]."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from typing import Any

from entrance.decision import Allow
from entrance.errors import Malformed
from entrance.git.refs import RefUpdate, decide_push
from entrance.git.standing import SHOWN, branch
from entrance.ports import HeldPush, Moved
from entrance.session import RepoGrant, RunId
from orchestrator.domain.approval import OPEN, Approval, ApprovalState
from orchestrator.domain.grants import grant_for, opened
from orchestrator.domain.kinds import PUSH
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
    """The reverse. Raises: Malformed."""
    try:
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
    except (KeyError, TypeError) as error:
        raise Malformed(f"a held push can't be read: {error}") from error


def held_of(items: Iterable[Approval]) -> Iterator[tuple[Approval, Wanted]]:
    """The held pushes among items; one that can't be read keeps no other from being heeded."""
    for item in items:
        if item.kind == PUSH:
            with suppress(Malformed):
                yield item, wanted_from(item.wanted)


def kept_of(item: Approval) -> str:
    """Under which name the push of an item is kept; empty for an item of another kind."""
    return str(item.wanted.get("kept", "")) if item.kind == PUSH else ""


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


def beside(item: Approval, others: Iterable[Approval]) -> list[str]:
    """The ids of other open items that move a branch of this one: of all of them one can arrive."""
    if item.kind != PUSH:
        return []
    one = wanted_from(item.wanted)
    refs = {each.ref for each in one.moved}
    return [
        other.id
        for other, theirs in held_of(others)
        if other.id != item.id
        and other.state in OPEN
        and theirs.repository == one.repository
        and refs & {each.ref for each in theirs.moved}
    ]


_NOT_THERE: Mapping[ApprovalState, str] = {
    ApprovalState.WAITING: "waits for a decision",
    ApprovalState.ALLOWED: "is allowed, and not sent yet",
    ApprovalState.RELEASING: "is being sent",
    ApprovalState.UNKNOWN: "was sent, and whether it has arrived is not known",
    ApprovalState.CONFLICT: "was allowed, but the host has moved on",
    ApprovalState.FAILED: "was allowed, but could not be done",
    ApprovalState.DENIED: "was denied",
    ApprovalState.EXPIRED: "was decided by nobody in time",
    ApprovalState.REVOKED: "was allowed, and taken back",
}


def not_there(items: Iterable[Approval]) -> list[str]:
    """Of a task's items, in sentences: which of its held pushes the host doesn't have.

    What was pushed later and has arrived goes before: the branch is there then, whatever was held.
    """
    told: dict[str, str] = {}
    for item, one in held_of(sorted(items, key=lambda one: one.asked_at)):
        for each in one.moved:
            told.pop(each.ref, None)
            if why := _NOT_THERE.get(item.state):
                told[each.ref] = (
                    f"{branch(each.ref)} is not at the host as it was pushed: {item.id} {why}."
                )
    return list(told.values())


def may_still(
    one: Wanted,
    item: Approval,
    *,
    engagement: Engagement | None,
    agent: Agent | None,
    task: Task | None,
) -> RepoGrant | str:
    """The grant by which it is sent, or why it may not be sent any more, as a sentence without its end.

    `engagement` is None when it is over.
    """
    if engagement is None:
        return "the engagement is over"
    if agent is None:
        return f"{engagement.bot} is no agent any more"
    if task is None:
        return "the task is gone"
    repository = grant_for(engagement.grants, one.url)
    grant = opened(repository, release_run(item), task) if repository else None
    if grant is None or not grant.push:
        return f"{one.repository} is not granted for pushing any more"
    updates = [RefUpdate(each.old, each.new, each.ref.encode()) for each in one.moved]
    own = item.task.rsplit("/", 1)[-1]
    decision = decide_push(updates, own, task.continues).decision
    return replace(grant, released=True) if isinstance(decision, Allow) else decision.reason


def release_run(item: Approval) -> RunId:
    """Whose the credentials are that are made to send it: nobody's but this one sending's."""
    return RunId(f"push-{item.id}")


def claimed_by(grant: RepoGrant) -> dict[str, Any]:
    """What is to be remembered of the grant by which it is sent."""
    kept = asdict(grant)
    return {"grant": {name: kept[name] for name in ("credential", "host", "api", "full_name")}}


def grant_claimed(one: Wanted, item: Approval) -> RepoGrant:
    """The grant by which it was claimed: what may have been sent is settled by it, come what may."""
    kept = item.came.get("grant", {})
    return RepoGrant(
        one.repository, one.url, push=True, released=True, run=release_run(item), **kept
    )


def _moves(one: Moved) -> str:
    old = f"from {one.old[:SHOWN]}" if one.old.strip("0") else "new"
    return f"{branch(one.ref)} ({old}) to {one.new[:SHOWN]}"


def _commits(number: int) -> str:
    return f"{number} commit{'' if number == 1 else 's'}"
