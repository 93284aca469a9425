"""What git tells of changed paths, bounded. In the looker."""

from dataclasses import replace
from itertools import islice

from entrance.git.checks.facts import EMPTY_TREES, Change
from entrance.git.quarantine.children import TOO_MUCH, TroubleError
from entrance.git.quarantine.raw_diff import DiffBrokenError, RawDiffReader

MOST_CHANGES = 100_000
"""The door has all of them in its memory while it judges; a tree of trees makes millions of paths."""
_EMPTY = frozenset(EMPTY_TREES.values())
_FOLDER = 0o040000


def changes_in(printed: bytes, of: str = "") -> tuple[Change, ...]:
    """`of`: the commit, where git doesn't name it. Raises: TroubleError."""
    reader = RawDiffReader(of)
    try:
        told = filter(None, map(_counted, reader.feed(printed)))
        found = tuple(islice(told, MOST_CHANGES + 1))
        if len(found) > MOST_CHANGES:
            raise TroubleError(TOO_MUCH)
        reader.end()
    except DiffBrokenError as error:
        raise TroubleError(str(error), broken=True) from error
    return found


def _counted(change: Change) -> Change | None:
    """A folder is told of by what is in it; where nothing is, its name goes to the host all the same."""
    if change.new_mode == _FOLDER and change.new not in _EMPTY:
        return None
    if change.old_mode == _FOLDER:
        change = replace(change, old_mode=0)
    return change if change.old_mode or change.new_mode else None
