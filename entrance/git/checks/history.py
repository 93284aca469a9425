"""Rules about where the branches go, and about what hides in the pack [pure]."""

from collections.abc import Iterator

from entrance.git.checks.facts import Brought
from entrance.git.checks.finding import Found
from entrance.session import Session


def rewinds(brought: Brought, _: Session) -> Iterator[Found]:
    """Branches whose old commit is not behind the new one."""
    for move in brought.moves:
        if not move.forward and not move.update.creates:
            yield Found(ref=move.update.ref, what=f"from {move.update.old[:10]}")


def no_commits(brought: Brought, _: Session) -> Iterator[Found]:
    """Branches that would be at something that is no commit."""
    for move in brought.moves:
        if move.kind != "commit":
            what = f"a {move.kind}" if move.kind else "an object that nobody has"
            yield Found(ref=move.update.ref, what=what, oid=move.update.new)


def strays(brought: Brought, _: Session) -> Iterator[Found]:
    """Objects that no branch of the push leads to."""
    kinds = {one.oid: one.kind for one in brought.objects}
    for oid in sorted(brought.stray):
        yield Found(what=f"a {kinds.get(oid, 'thing')}", oid=oid)


def oversized_pack(brought: Brought, session: Session) -> Iterator[Found]:
    """A pack that is larger than may be."""
    most = session.push_policy.max_pack_bytes
    if brought.pack_bytes > most:
        yield Found(what=f"{brought.pack_bytes} bytes, {most} are the most")
