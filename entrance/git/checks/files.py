"""Rules about files: gates, sizes, links, modes, submodules, LFS [pure]."""

from collections import defaultdict
from collections.abc import Iterator, Mapping

from entrance.git.checks.facts import Brought, Change
from entrance.git.checks.finding import Found
from entrance.git.checks.gates import gate_at
from entrance.git.checks.links import leaves
from entrance.session import Session

LINK, SUBMODULE = 0o120000, 0o160000
_FILE_BITS, _FILE, _RUN = 0o170000, 0o100000, 0o111


def gates(brought: Brought, session: Session) -> Iterator[Found]:
    """Changes of what somebody else's machine runs or obeys."""
    more = session.push_policy.gate_paths
    for change in brought.changes:
        if what := gate_at(change.path, change.old_mode, change.new_mode, more=more):
            yield _at(change, what)


def large_files(brought: Brought, session: Session) -> Iterator[Found]:
    """Files that are larger than may be."""
    most, places = session.push_policy.max_file_bytes, changes_of(brought)
    for one in brought.objects:
        if one.kind == "blob" and one.size_bytes > most:
            what = f"{one.size_bytes} bytes, {most} are the most,"
            yield from _wherever(one.oid, what, places)


def leaving_links(brought: Brought, _: Session) -> Iterator[Found]:
    """Symbolic links that don't plainly stay inside the repository."""
    for change in brought.changes:
        if change.new_mode == LINK:
            target = brought.links.get(change.new)
            why = "its target was not read" if target is None else leaves(change.path, target)
            if why:
                yield _at(change, why)


def flipped_bits(brought: Brought, _: Session) -> Iterator[Found]:
    """Files that begin to be programs, or stop to be."""
    for change in brought.changes:
        old, new = change.old_mode, change.new_mode
        if _is_file(new) and (_is_file(old) or not old) and (old ^ new) & _RUN & (new | old):
            yield _at(change, "made executable" if new & _RUN else "made not executable")


def submodules(brought: Brought, _: Session) -> Iterator[Found]:
    """Changes of which commit of another repository stands in a folder."""
    for change in brought.changes:
        if SUBMODULE in {change.old_mode, change.new_mode}:
            yield _at(change, f"now {change.new[:10]}" if change.new_mode else "taken out")


def pointers(brought: Brought, _: Session) -> Iterator[Found]:
    """Files that stand for one that Git LFS would keep."""
    places = changes_of(brought)
    for pointer in brought.pointers:
        yield from _wherever(pointer.oid, f"{pointer.size_bytes} bytes elsewhere", places)


def changes_of(brought: Brought) -> Mapping[str, list[Change]]:
    """The changes by the object that they put there."""
    places: dict[str, list[Change]] = defaultdict(list)
    for change in brought.changes:
        if change.new_mode not in {0, SUBMODULE}:
            places[change.new].append(change)
    return places


def _wherever(oid: str, what: str, places: Mapping[str, list[Change]]) -> Iterator[Found]:
    if oid not in places:
        yield Found(what=what, oid=oid)
    yield from (_at(change, what) for change in places.get(oid, ()))


def _at(change: Change, what: str) -> Found:
    return Found(what=what, commit=change.commit, path=change.path)


def _is_file(mode: int) -> bool:
    return mode & _FILE_BITS == _FILE
