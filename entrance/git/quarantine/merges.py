"""What a merge takes back: one side's file stands, though the other side had changed it. In the looker.

`git diff-tree -c` tells of a merge what differs from all its parents. A merge that throws away what
the host's branch has changed (`-s ours`) differs from none of them alone, and no other commit shows it:
so an older workflow could come back unseen.
"""

from collections.abc import Generator, Iterable, Sequence

from entrance.git.checks.facts import Change, Commit
from entrance.git.quarantine.changing import MOST_CHANGES, changes_in
from entrance.git.quarantine.children import TOO_MUCH, Children, TroubleError

MOST_SIDES = 200
"""Of all merges of a push; each takes git three questions."""
_DIFF = ("diff-tree", "-r", "--raw", "-z", "--no-renames", "--no-abbrev", "--no-ext-diff")

Step = int | None


def taken_back(
    git: Children, commits: Iterable[Commit], told: Iterable[Change]
) -> Generator[Step, None, tuple[Change, ...]]:
    """The changes that `told` doesn't have, against the side that had changed the file.

    Raises: TroubleError.
    """
    merges = [commit for commit in commits if len(commit.parents) > 1]
    if sum(len(merge.parents) for merge in merges) > MOST_SIDES:
        raise TroubleError(TOO_MUCH)
    known = {(change.commit, change.path) for change in told} if merges else set()
    found = list[Change]()
    for merge in merges:
        for side in dict.fromkeys(merge.parents):
            others = [parent for parent in merge.parents if parent != side]
            dropped = yield from _dropped(git, merge.oid, side, others)
            found += [one for one in dropped if (one.commit, one.path) not in known]
            if len(found) > MOST_CHANGES:  # of all sides of all merges, as of all else
                raise TroubleError(TOO_MUCH)
    return tuple(found)


def _dropped(
    git: Children, merge: str, side: str, others: Sequence[str]
) -> Generator[Step, None, tuple[Change, ...]]:
    """Where the merge is not as `side` is, which had changed it since it parted from the others."""
    lost = yield from _between(git, side, merge)
    if not lost or not others:
        return ()
    asked = git.start(["merge-base", side, *others])
    if (yield from asked.wait()) != 0:
        return lost  # they have nothing in common: all that it has is its own
    base = asked.printed().split()[0].decode("ascii")
    own = {change.path for change in (yield from _between(git, base, side))}
    return tuple(change for change in lost if change.path in own)


def _between(git: Children, one: str, two: str) -> Generator[Step, None, tuple[Change, ...]]:
    """What has to be changed to come from one commit to the other."""
    return changes_in((yield from git.start([*_DIFF, one, two]).lines()), of=two)
