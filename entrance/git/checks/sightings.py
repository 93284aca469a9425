"""Rules about what scanners saw: inside of objects, and in names [pure]."""

from collections.abc import Iterable, Iterator

from entrance.git.checks.facts import Brought
from entrance.git.checks.files import changes_of
from entrance.git.checks.finding import Found
from entrance.git.checks.secret_kinds import LIKELY
from entrance.session import Session


def sure_secrets(brought: Brought, _: Session) -> Iterator[Found]:
    """Whatever can hardly be anything but a secret; a kind that isn't known counts as such."""
    return _seen(brought, likely=False)


def likely_secrets(brought: Brought, _: Session) -> Iterator[Found]:
    """What looks like a secret, and is often none."""
    return _seen(brought, likely=True)


def _seen(brought: Brought, *, likely: bool) -> Iterator[Found]:
    places = changes_of(brought)
    commits = {commit.oid for commit in brought.commits}
    for one in brought.sightings:
        if (one.what in LIKELY) is not likely:
            continue
        if one.oid in commits:
            yield Found(what=f"{one.what} in its message", commit=one.oid, line=one.line)
        elif one.oid not in places:
            yield Found(what=one.what, oid=one.oid, line=one.line)
        yield from (
            Found(what=one.what, commit=change.commit, path=change.path, line=one.line)
            for change in places.get(one.oid, ())
        )
    yield from _named(brought, likely=likely)


def _named(brought: Brought, *, likely: bool) -> Iterator[Found]:
    """What stands in a name goes to the host like all else."""

    def of(name: bytes) -> Iterable[str]:
        telling = brought.telling.get(name)
        return [what for what in telling.whats if (what in LIKELY) is likely] if telling else ()

    for move in brought.moves:
        for what in of(move.update.ref):
            yield Found(what=f"{what} in the branch's name", ref=move.update.ref)
    for change in brought.changes:
        for what in of(change.path) if change.new_mode else ():
            yield Found(what=f"{what} in a name", commit=change.commit, path=change.path)
