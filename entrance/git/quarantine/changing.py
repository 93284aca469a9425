"""What git tells of changed paths, bounded. In the looker."""

from itertools import islice

from entrance.git.checks.facts import Change
from entrance.git.quarantine.children import TOO_MUCH, TroubleError
from entrance.git.quarantine.raw_diff import DiffBrokenError, RawDiffReader

MOST_CHANGES = 100_000
"""The door has all of them in its memory while it judges; a tree of trees makes millions of paths."""


def changes_in(printed: bytes, of: str = "") -> tuple[Change, ...]:
    """`of`: the commit, where git doesn't name it. Raises: TroubleError."""
    reader = RawDiffReader(of)
    try:
        found = tuple(islice(reader.feed(printed), MOST_CHANGES + 1))
        if len(found) > MOST_CHANGES:
            raise TroubleError(TOO_MUCH)
        reader.end()
    except DiffBrokenError as error:
        raise TroubleError(str(error), broken=True) from error
    return found
