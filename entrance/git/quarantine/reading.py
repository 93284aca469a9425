"""Reads a push: its commits, what they change, what is in them, and what leads nowhere. In the looker.

What needs nothing of the other is begun at once: git tells which commits are new while the pack is
looked through.
"""

from collections import defaultdict
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from entrance.git.checks.facts import Change, Commit
from entrance.git.checks.scanners.names import telling
from entrance.git.quarantine.changing import changes_in
from entrance.git.quarantine.children import TOO_MUCH, Children, Running, TroubleError, children
from entrance.git.quarantine.frames import Job, Result
from entrance.git.quarantine.git_child import Place
from entrance.git.quarantine.look import Look
from entrance.git.quarantine.merges import taken_back
from entrance.git.quarantine.pack_index import IndexBrokenError, entries_of

LINK = 0o120000
_KIND, _FILE = 0o170000, 0o100000
LONGEST_LINK = 4096
"""Bytes; no path is longer where it is followed."""
MOST_OBJECTS = 300_000
MOST_COMMITS = 50_000
"""The door has all of these in its memory while it judges."""
_DIFF = (
    *(
        "diff-tree",
        "--stdin",
        "-r",
        "-t",
        "-c",
        "--root",
        "--raw",
        "-z",
        "--no-renames",
        "--no-abbrev",
    ),
    *("--no-ext-diff", "--no-textconv", "--ignore-submodules=none"),
)
_LACKING = (
    "the pack lacks objects that its branches need, and the host's branches and tags don't have them; "
    "fetch, and base your branch on one of the host's"
)

Step = int | None


@dataclass(frozen=True, slots=True)
class Reached:
    """What the push's refs lead to and the host doesn't have: commits, parents first; and all of it."""

    commits: tuple[str, ...] = ()
    all: frozenset[str] = frozenset()


def read(job: Job) -> Generator[Step, None, Result]:
    """Some work at a time; the result at the end. Raises: TroubleError."""
    mirror = Place(Path(job.repository))
    with children(Place(mirror.repository, Path(job.objects))) as git:
        sent, tips = _sent(job), tuple(dict.fromkeys(new for _, new, _ in job.moves))
        sent_set = frozenset(sent)
        reaching = git.start(_reach(tips))
        behind = [_behind(git, old, new) for old, new, _ in job.moves]
        look = Look(job.canaries, job.most_bytes)
        yield from look.through(git, sent, [tip for tip in tips if tip not in sent_set])
        objects = tuple(look.objects)
        reached = yield from _reached(reaching, lacks=any(tip not in look.kinds for tip in tips))
        changing = git.start(_DIFF, reached.commits)
        loose = sent_set - reached.all
        straying = git.start(["cat-file", "--batch-check"], loose, mirror) if loose else None
        yield from look.through(git, tuple(reached.all - sent_set))
        forward = yield from _forward(behind)
        changes = changes_in((yield from changing.lines()))
        changes += yield from taken_back(git, look.commits.values(), changes)
        yield from _forget_known(git, look, changes, reached)
        return Result(
            job.id,
            canary=look.canary,
            kinds={tip: look.kinds[tip] for tip in tips if tip in look.kinds},
            forward=forward,
            commits=_in_order(reached.commits, look.commits),
            changes=changes,
            objects=objects,
            stray=_missing_in((yield from straying.lines())) if straying else frozenset(),
            links=(yield from _links(git, look, changes)),
            sightings=look.sightings,
            telling=telling(_named(job, changes)),
            pointers=tuple(look.pointers),
        )


def _named(job: Job, changes: Iterable[Change]) -> Iterator[bytes]:
    """The names that the host doesn't have: branches, and paths where nothing was before."""
    yield from (ref.encode("latin-1") for _, _, ref in job.moves)
    yield from (change.path for change in changes if change.new_mode and not change.old_mode)


def _sent(job: Job) -> tuple[str, ...]:
    """The pack's objects, in the order in which they stand there, so that deltas follow their bases."""
    if job.count > MOST_OBJECTS:
        raise TroubleError(TOO_MUCH)
    try:
        entries = entries_of(Path(job.index).read_bytes(), job.oid_bytes)
    except (OSError, IndexBrokenError) as error:
        raise TroubleError("the pack's index can't be read") from error
    return tuple(entry.oid for entry in entries[: job.count])


def _reach(tips: Iterable[str]) -> Sequence[str]:
    return ("rev-list", "--objects", "--topo-order", "--reverse", *tips, "--not", "--all")


def _reached(reaching: Running, *, lacks: bool) -> Generator[Step, None, Reached]:
    """Commits stand alone on their lines; behind other objects there is a space, and perhaps a path."""
    code = yield from reaching.wait()
    if code != 0:
        if lacks:
            return Reached()  # the rule about tips that nobody has says it better
        raise TroubleError(_LACKING, broken=True)
    commits, everything = list[str](), list[str]()
    for line in reaching.printed().splitlines():
        oid, space, _ = line.partition(b" ")
        everything.append(oid.decode("ascii"))
        if not space:
            commits.append(everything[-1])
    if len(commits) > MOST_COMMITS:
        raise TroubleError(TOO_MUCH)
    return Reached(tuple(commits), frozenset(everything))


def _behind(git: Children, old: str, new: str) -> Running | None:
    """Asks whether `old` is behind `new`; None when there is no old one."""
    return git.start(["merge-base", "--is-ancestor", old, new]) if old.strip("0") else None


def _forward(asked: Iterable[Running | None]) -> Generator[Step, None, tuple[bool, ...]]:
    """Also no is what git says of something that is missing, or no commit."""
    told = list[bool]()
    for one in asked:
        told.append(one is None or (yield from one.wait()) == 0)
    return tuple(told)


def _missing_in(printed: bytes) -> frozenset[str]:
    lines = (line.split(b" ") for line in printed.splitlines())
    return frozenset(words[0].decode("ascii") for words in lines if words[-1] == b"missing")


def _forget_known(
    git: Children, look: Look, changes: Iterable[Change], reached: Reached
) -> Generator[Step, None, None]:
    """Take out what the host has at the same path already: whoever edits a file brings no news."""
    beside = beside_of(changes, reached.all)
    edited = {new: old for new, old in beside.items() if new in look.seen}
    if not edited:
        return
    older = Look((), look.most_bytes)
    yield from older.through(git, tuple({oid for old in edited.values() for oid in old}))
    for new, old in edited.items():
        known = (older.seen[oid] for oid in old if oid in older.seen)
        look.seen[new] = look.seen[new].without(*known)


def beside_of(changes: Iterable[Change], brought: frozenset[str]) -> Mapping[str, tuple[str, ...]]:
    """Objects that are put in the place of others, each with those; only of what the host has already.

    Two new files could else vouch for each other.
    """
    found: dict[str, dict[str, None]] = defaultdict(dict)
    for change in changes:
        if _is_file(change.new_mode) and _is_file(change.old_mode) and change.old not in brought:
            found[change.new][change.old] = None
    return {new: tuple(older) for new, older in found.items()}


def _is_file(mode: int) -> bool:
    return mode & _KIND == _FILE


def _in_order(oids: Iterable[str], commits: Mapping[str, Commit]) -> tuple[Commit, ...]:
    try:
        return tuple(commits[oid] for oid in oids)
    except KeyError as error:
        raise TroubleError("not every commit of the push could be looked at") from error


def _links(
    git: Children, look: Look, changes: Iterable[Change]
) -> Generator[Step, None, Mapping[str, bytes]]:
    oids = tuple({change.new for change in changes if change.new_mode == LINK})
    if not oids:
        return {}
    sizes = {one.oid: one.size_bytes for one in look.objects}
    if any(sizes.get(oid, 0) > LONGEST_LINK for oid in oids):
        raise TroubleError("a symbolic link is longer than any path")
    printed = yield from git.start(["cat-file", "--batch"], oids).lines()
    return _contents(printed)


def _contents(printed: bytes) -> Mapping[str, bytes]:
    """What `cat-file --batch` gives out."""
    found: dict[str, bytes] = {}
    at = 0
    while at < len(printed):
        end = printed.index(b"\n", at)
        words = printed[at:end].split(b" ")
        if len(words) != 3:  # noqa: PLR2004 - id, kind, size
            raise TroubleError("git could not read a symbolic link", broken=True)
        size = int(words[2])
        found[words[0].decode("ascii")] = printed[end + 1 : end + 1 + size][:LONGEST_LINK]
        at = end + 1 + size + 1
    return found
