"""Where a symbolic link leads, as far as its own text tells [pure]."""

import re
from collections.abc import Callable

from entrance.git.checks.names import names_git

LONGEST = 4096
"""Bytes of a target; what was read of a longer one is not all of it."""
_ABSOLUTE = re.compile(rb"/|~|[A-Za-z]:")
_ODD = re.compile(rb"[\x00-\x1f\x7f\\]")


def leaves(path: bytes, target: bytes) -> str:
    """Why the link at `path` doesn't plainly stay inside the tree; empty when it does.

    A `..` behind a name is refused whatever it leads to: the name may be a link, and `..` goes on from
    where that leads. Without such, a link stays inside if all links on its way do.
    """
    return next((why for wrong, why in _WRONG if wrong(path, target)), "")


def _parts(target: bytes) -> list[bytes]:
    return [part for part in target.split(b"/") if part not in {b"", b"."}]


def _ups(target: bytes) -> int:
    parts = _parts(target)
    return next((at for at, part in enumerate(parts) if part != b".."), len(parts))


_WRONG: tuple[tuple[Callable[[bytes, bytes], object], str], ...] = (
    (lambda _, to: not 0 < len(to) < LONGEST, "its target is empty or too long"),
    (lambda _, to: _ODD.search(to), "its target has control bytes or backslashes"),
    (lambda _, to: _ABSOLUTE.match(to), "it is absolute"),
    (lambda path, to: _ups(to) > path.count(b"/"), "it leads out of the repository"),
    (lambda _, to: b".." in _parts(to)[_ups(to) :], "it goes up behind a name, perhaps a link's"),
    (lambda _, to: any(names_git(part) for part in _parts(to)), "it leads into git's own folder"),
)
