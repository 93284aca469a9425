"""What a held push would change, for whoever decides about it: its commits, its files, its diff.

Made by git over the mirror and the push's own objects, which are looked at and never checked out.
Whatever it says was written by an agent: it is data, and to be shown as such.
"""

import asyncio
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from entrance.errors import NotFound, Unavailable
from entrance.git.checks.facts import EMPTY_TREES
from entrance.git.held import HeldPack
from entrance.git.quarantine.git_child import Bounds, GitFailed, Place, environment, git, started
from entrance.ports import HeldPush, Moved

MOST_BYTES = 256 << 10
"""So much of a diff is shown; the rest is said to be there."""
MOST_COMMITS = 200
MOST_FILES = 1000
MOST_BASES = 8
"""So many commits that a new branch stands on are compared with it."""
SECONDS = 20.0
_COMPARED = 500
"""Of so many it is looked which are behind others, and say nothing more."""
_OID = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_FORM = "--format=%H%x00%an <%ae>%x00%aI%x00%s"
_PLAIN = ("--no-color", "--no-ext-diff", "--no-textconv", "--no-renames", "--submodule=short")


@dataclass(frozen=True, slots=True)
class CommitLine:
    """A commit that the push brings."""

    oid: str
    author: str
    at: str
    subject: str


@dataclass(frozen=True, slots=True)
class FileLine:
    """A file that the push changes: lines added and removed, -1 where there are none to count."""

    path: str
    added: int
    removed: int


@dataclass(frozen=True, slots=True)
class Preview:
    """The change as a whole, as against what the host has. `cut`: there is more of it."""

    commits: tuple[CommitLine, ...]
    files: tuple[FileLine, ...]
    patch: str
    cut: bool = False


async def preview(pack: HeldPack, most_bytes: int = MOST_BYTES) -> Preview:
    """What the push would change. Raises: NotFound without its mirror; Unavailable."""
    push, mirror = pack.record.push, Path(pack.record.mirror)
    if not pack.record.mirror or not await asyncio.to_thread(mirror.is_dir):
        raise NotFound("the mirror that the push builds on is gone: it can't be shown")
    env = environment(Place(mirror, pack.objects))
    try:
        commits = await _commits(push.commits[-MOST_COMMITS:], env)
        files: list[FileLine] = []
        patch, cut = "", len(push.commits) > MOST_COMMITS
        for one in push.moved:
            bases = await _bases_of(push, one, env)
            cut = cut or len(bases) > MOST_BASES
            for base in bases[:MOST_BASES]:
                between = [base, _checked(one.new)]
                if len(bases) > 1:
                    patch += f"# {one.ref}, as against {base}\n"
                numbers = await git(
                    ["diff", *_PLAIN, "--numstat", "-z", *between, "--"], env, bounds=_BOUNDS
                )
                files += _files(numbers)
                text, more = await _patch(between, env, most_bytes - len(patch))
                patch, cut = patch + text, cut or more
    except GitFailed as failed:
        raise Unavailable(f"the push can't be shown: {failed}") from failed
    return Preview(commits, tuple(files[:MOST_FILES]), patch, cut or len(files) > MOST_FILES)


_BOUNDS = Bounds(seconds=SECONDS, stdout_bytes=16 << 20)


async def _bases_of(push: HeldPush, one: Moved, env: Mapping[str, str]) -> Sequence[str]:
    """What the branch is compared with: where it is, else all that it stands on, else nothing.

    Of several commits that it stands on, one may have just what another lacks: compared with that one
    alone, the change would not be seen. Raises: GitFailed.
    """
    if one.old.strip("0"):
        return [_checked(one.old)]
    new = _checked(one.new)
    if new in push.onto:
        return [new]
    told = "".join([f"{new}\n", *(f"^{_checked(each)}\n" for each in push.onto)]).encode()
    listed = await git(["rev-list", "--boundary", "--stdin"], env, given=told, bounds=_BOUNDS)
    below = [line[1:] for line in _text(listed).splitlines() if line.startswith("-")]
    if 1 < len(below) <= _COMPARED:
        apart = await git(["merge-base", "--independent", *below], env, bounds=_BOUNDS)
        below = _text(apart).split()
    return sorted(below) or [EMPTY_TREES[len(new)]]


def _checked(oid: str) -> str:
    """An object's id, and nothing that git would take for an option. Raises: GitFailed."""
    if not _OID.fullmatch(oid):
        raise GitFailed("what is kept of the push names no objects")
    return oid


async def _commits(oids: Sequence[str], env: Mapping[str, str]) -> tuple[CommitLine, ...]:
    if not oids:
        return ()
    asked = ["show", "--no-patch", "--no-color", "-z", _FORM, *map(_checked, oids), "--"]
    said = _text(await git(asked, env, bounds=_BOUNDS)).split("\0")
    fields = iter(said)
    return tuple(CommitLine(*each) for each in zip(fields, fields, fields, fields, strict=False))


def _files(numbers: bytes) -> list[FileLine]:
    found = []
    for line in _text(numbers).split("\0"):
        added, _, rest = line.partition("\t")
        removed, _, path = rest.partition("\t")
        if path:
            found.append(FileLine(path, _number(added), _number(removed)))
    return found


def _number(text: str) -> int:
    return int(text) if text.isdigit() else -1


async def _patch(
    between: Sequence[str], env: Mapping[str, str], most_bytes: int
) -> tuple[str, bool]:
    """The diff, up to so many bytes; whether there is more."""
    said = bytearray()
    async with started(["diff", *_PLAIN, *between, "--"], env, bounds=_BOUNDS) as child:
        async for piece in child.pieces(1 << 30):
            said += piece
            if len(said) > most_bytes:
                return _text(bytes(said[: max(0, most_bytes)])), True
        await child.ended()
    return _text(bytes(said)), False


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "backslashreplace")
