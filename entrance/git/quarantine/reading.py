"""Makes of a received push what the rules judge: its commits, what they change, and what is in them.

What needs nothing of the other is done at once: the looker goes through the pack while git tells which
commits are new, and what each changes.
"""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

from entrance.git.checks.facts import Brought, Change, Commit, Move, ObjectKind, Sighting
from entrance.git.quarantine.frames import MOST_SIGHTINGS, Job, Result
from entrance.git.quarantine.git_child import (
    Bounds,
    Child,
    GitFailed,
    Place,
    environment,
    git,
    started,
)
from entrance.git.quarantine.incoming import OID_BYTES, Incoming, Received, Refused
from entrance.git.quarantine.looking import Looking
from entrance.git.quarantine.raw_diff import DiffBrokenError, RawDiffReader
from entrance.git.receive_pack import PushHead
from entrance.git.refs import RefUpdate

LINK = 0o120000
_KIND, _FILE = 0o170000, 0o100000
LONGEST_LINK = 4096
"""Bytes; no path is longer where it is followed."""
_SECONDS = 300.0
_PRINTED_BYTES = 256 << 20
_BOUNDS = Bounds(_SECONDS, _PRINTED_BYTES)
_LINKS = Bounds(_SECONDS, 16 << 20)
_DIFF = (
    *("diff-tree", "--stdin", "-r", "-c", "--root", "--raw", "-z", "--no-renames", "--no-abbrev"),
    *("--no-ext-diff", "--no-textconv", "--ignore-submodules=none"),
)


@dataclass(frozen=True, slots=True)
class Reached:
    """What the push's refs lead to and the host doesn't have: commits, parents first; and all of it."""

    commits: tuple[str, ...]
    all: frozenset[str]


@dataclass(frozen=True, slots=True)
class Read:
    """What was read. `canary`: the name of a honeytoken that is in it; empty when there is none."""

    brought: Brought
    canary: str = ""


class Reading:
    """Reads one push. `place`: the repository's mirror, and the push's own objects."""

    def __init__(
        self, incoming: Incoming, mirror: Place, head: PushHead, received: Received
    ) -> None:
        self._incoming = incoming
        self._place = Place(mirror.repository, incoming.objects)
        self._mirror = mirror
        self._head = head
        self._received = received
        self._env = environment(self._place)
        self._tips = tuple(dict.fromkeys(update.new for update in head.updates))
        self._sent = frozenset(entry.oid for entry in received.entries)

    async def read(self, looking: Looking, canaries: tuple[tuple[str, str], ...]) -> Read:
        """All of it. Raises: Refused when objects are missing, GitFailed, Unavailable."""
        job = replace(self._job(canaries), index=str(self._index()), count=len(self._sent))
        async with self._changing() as changing:
            seen, reached, forward = await asyncio.gather(
                looking.look(replace(job, tips=self._tips)),
                self._reached(),
                asyncio.gather(*map(self._goes_forward, self._head.updates)),
            )
            if seen.trouble:
                raise Refused(seen.trouble)
            changes = await changing.of(reached.commits)
        rest = tuple(reached.all - self._sent)
        more = await self._look_at(looking, replace(job, index="", count=0, oids=rest))
        links = await self._links(changes, seen)
        moves = tuple(
            Move(update, cast(ObjectKind | None, seen.kinds.get(update.new)), ahead)
            for update, ahead in zip(self._head.updates, forward, strict=True)
        )
        brought = Brought(
            moves=moves,
            commits=_in_order(reached.commits, (*seen.commits, *more.commits)),
            changes=changes,
            objects=seen.objects,
            stray=await self._stray(reached),
            pack_bytes=self._received.pack_bytes,
            links=links,
            sightings=await self._news(looking, job, (seen, more), beside_of(changes, reached.all)),
            pointers=(*seen.pointers, *more.pointers),
        )
        return Read(brought, seen.canary or more.canary)

    def _index(self) -> Path:
        return next((self._incoming.objects / "pack").glob("pack-*.idx"))

    def _job(self, canaries: tuple[tuple[str, str], ...]) -> Job:
        place = self._place
        return Job(
            id=0,
            repository=str(place.repository),
            objects=str(place.objects),
            oid_bytes=OID_BYTES[self._head.hash_name],
            canaries=canaries,
        )

    async def _look_at(self, looking: Looking, job: Job) -> Result:
        if not job.oids:
            return Result(0)
        seen = await looking.look(job)
        if seen.trouble:
            raise Refused(seen.trouble)
        return seen

    async def _news(
        self,
        looking: Looking,
        job: Job,
        results: Sequence[Result],
        beside: Mapping[str, tuple[str, ...]],
    ) -> tuple[Sighting, ...]:
        """What was seen, but for what the host has at the same path already."""
        found = tuple(one for result in results for one in result.sightings)
        known = {one.oid: beside[one.oid] for one in found if one.oid in beside}
        # Where not all is told, what isn't must not get by behind what is no news.
        if not known or any(len(one.sightings) >= MOST_SIGHTINGS for one in results):
            return found
        compared = await looking.look(replace(job, index="", count=0, beside=tuple(known.items())))
        if compared.trouble:
            return found
        return (*(one for one in found if one.oid not in known), *compared.sightings)

    async def _reached(self) -> Reached:
        """Raises: Refused when the tips lead to what is missing."""
        told = ["rev-list", "--objects", "--topo-order", "--reverse", *self._tips, "--not", "--all"]
        try:
            out = await git(told, self._env, bounds=_BOUNDS)
        except GitFailed as failed:
            if failed.code is None:
                raise
            if await self._lacks_a_tip():
                return Reached((), frozenset())
            raise Refused(
                f"the pack lacks objects that its branches need; base them on a branch of the host "
                f"({failed})"
            ) from failed
        return await asyncio.to_thread(_reached_in, out)

    async def _lacks_a_tip(self) -> bool:
        given = "".join(f"{tip}\n" for tip in self._tips).encode()
        told = await git(["cat-file", "--batch-check"], self._env, given=given, bounds=_BOUNDS)
        return b" missing\n" in told

    async def _goes_forward(self, update: RefUpdate) -> bool:
        if update.creates:
            return True
        told = ["merge-base", "--is-ancestor", update.old, update.new]
        try:
            await git(told, self._env, bounds=_BOUNDS)
        except GitFailed as failed:
            if failed.code is None:
                raise
            return False  # no ancestor; or one of them is missing, or is no commit
        return True

    @asynccontextmanager
    async def _changing(self) -> AsyncIterator["_Changing"]:
        async with started(_DIFF, self._env, seconds=_SECONDS, feeds=True) as child:
            yield _Changing(child)

    async def _stray(self, reached: Reached) -> frozenset[str]:
        loose = self._sent - reached.all
        if not loose:
            return loose
        given = "".join(f"{oid}\n" for oid in loose).encode()
        env = environment(self._mirror)
        told = await git(["cat-file", "--batch-check"], env, given=given, bounds=_BOUNDS)
        lines = (line.split(b" ") for line in told.splitlines())
        return frozenset(words[0].decode() for words in lines if words[-1] == b"missing")

    async def _links(self, changes: Iterable[Change], seen: Result) -> Mapping[str, bytes]:
        oids = {change.new for change in changes if change.new_mode == LINK}
        if not oids:
            return {}
        sizes = {one.oid: one.size_bytes for one in seen.objects}
        if any(sizes.get(oid, 0) > LONGEST_LINK for oid in oids):
            raise Refused("a symbolic link is longer than any path")
        given = "".join(f"{oid}\n" for oid in oids).encode()
        told = await git(["cat-file", "--batch"], self._env, given=given, bounds=_LINKS)
        return _contents(told)


class _Changing:
    """A git that waits to be told commits."""

    def __init__(self, child: Child) -> None:
        self._child = child

    async def of(self, commits: Sequence[str]) -> tuple[Change, ...]:
        """What they change, in their order. Raises: GitFailed."""
        given = "".join(f"{oid}\n" for oid in commits).encode()
        _, changes = await asyncio.gather(self._give(given), self._changes())
        await self._child.ended()
        return changes

    async def _give(self, given: bytes) -> None:
        await self._child.write(given)
        await self._child.write_end()

    async def _changes(self) -> tuple[Change, ...]:
        reader, found = RawDiffReader(), list[Change]()
        try:
            async for piece in self._child.pieces(_PRINTED_BYTES):
                found += reader.feed(piece)
            reader.end()
        except DiffBrokenError as error:
            raise GitFailed(str(error)) from error
        return tuple(found)


def beside_of(changes: Iterable[Change], brought: frozenset[str]) -> Mapping[str, tuple[str, ...]]:
    """Objects that are put in the place of others, each with those; only of what the host has already."""
    found: dict[str, dict[str, None]] = defaultdict(dict)
    for change in changes:
        if _is_file(change.new_mode) and _is_file(change.old_mode) and change.old not in brought:
            found[change.new][change.old] = None
    return {new: tuple(older) for new, older in found.items()}


def _is_file(mode: int) -> bool:
    return mode & _KIND == _FILE


def _reached_in(out: bytes) -> Reached:
    """Commits stand alone on their lines; behind other objects there is a space, and perhaps a path."""
    commits: list[str] = []
    everything: list[str] = []
    for line in out.splitlines():
        oid, space, _ = line.partition(b" ")
        everything.append(oid.decode("ascii"))
        if not space:
            commits.append(everything[-1])
    return Reached(tuple(commits), frozenset(everything))


def _in_order(oids: Iterable[str], commits: Iterable[Commit]) -> tuple[Commit, ...]:
    """Raises: Refused when one of them was not looked at."""
    known = {commit.oid: commit for commit in commits}
    try:
        return tuple(known[oid] for oid in oids)
    except KeyError as error:
        raise Refused("not every commit of the push could be looked at") from error


def _contents(told: bytes) -> Mapping[str, bytes]:
    """What `cat-file --batch` gives out. Raises: GitFailed when something is missing."""
    found: dict[str, bytes] = {}
    at = 0
    while at < len(told):
        end = told.index(b"\n", at)
        words = told[at:end].split(b" ")
        if len(words) != 3:  # noqa: PLR2004 - id, kind, size
            raise GitFailed("git could not read a symbolic link")
        size = int(words[2])
        found[words[0].decode()] = told[end + 1 : end + 1 + size][:LONGEST_LINK]
        at = end + 1 + size + 1
    return found
