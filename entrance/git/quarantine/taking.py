"""Takes one push in: asks the host what it has while the push comes, then has it read."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import cast

from entrance.errors import SandgateError
from entrance.git.body import RequestBody
from entrance.git.checks.facts import Brought, Move, ObjectKind
from entrance.git.listing import Listing
from entrance.git.quarantine.frames import Job, Result
from entrance.git.quarantine.incoming import OID_BYTES, Incoming, Received, Refused
from entrance.git.quarantine.looking import Looking
from entrance.git.quarantine.mirror import Mirror, Origin
from entrance.git.quarantine.mirrors import Mirrors
from entrance.git.receive_pack import PushHead
from entrance.git.upstream import GitHost
from entrance.session import RepoGrant


@dataclass(frozen=True, slots=True)
class Coming:
    """A push whose head was read, and where it wants to go."""

    head: PushHead
    body: RequestBody
    grant: RepoGrant
    canaries: tuple[tuple[str, str], ...] = ()
    """Name and secret of each honeytoken that is looked for."""
    most_bytes: int = 2 << 30
    """The largest pack."""
    arrived: asyncio.Event = field(default_factory=asyncio.Event)
    """Set once all of it is here."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What the host said of its refs. `listing`: None when it can't be asked that way; `why` not."""

    listing: Listing | None
    why: str = ""
    behind: frozenset[str] = frozenset()
    """Where branches and tags are that the mirror lacks: more may seem new than is."""


@dataclass(frozen=True, slots=True)
class Taken:
    """A push that is here, whole, and was read."""

    incoming: Incoming
    received: Received
    mirror: Mirror
    brought: Brought
    asked: Asked
    canary: str = ""
    """The name of a honeytoken that is in it; empty when there is none."""
    ms: dict[str, int] = field(default_factory=dict)
    """How long each step took. They overlap."""

    def may_mislead(self, *, found: bool) -> bool:
        """Whether it is to be read again beside a mirror as the host: something was `found`, or seems
        new, that only the mirror lacks. Nothing else can come of one that is merely behind.
        """
        behind = self.asked.behind
        return bool(behind) and (found or any(one.oid in behind for one in self.brought.commits))


class Taking:
    """One push."""

    def __init__(
        self, coming: Coming, incoming: Incoming, host: GitHost, mirrors: Mirrors, looking: Looking
    ) -> None:
        self._coming = coming
        self._incoming = incoming
        self._host = host
        self._mirrors = mirrors
        self._looking = looking
        self._ms: dict[str, int] = {}

    async def taken(self) -> Taken:
        """All of it. Raises: Refused, SandgateError, GitFailed; BodyError as the body does."""
        grant, hash_name = self._coming.grant, self._coming.head.hash_name
        secret = await self._host.secret_for(grant)
        origin = Origin(self._host.address(grant), hash_name, secret)
        mirror = self._mirrors.of(origin.url, origin.hash_name)
        asking = asyncio.ensure_future(self._ask(origin, mirror))
        try:
            if not mirror.digest:
                await asking
            with self._timed("receive"):
                received = await self._received(mirror)
            asked = await asking
        finally:
            asking.cancel()
            await asyncio.gather(asking, return_exceptions=True)
        if asked.behind and isinstance(received, Refused):
            asked = await self._caught_up(origin, asked)
        with self._timed("read"):
            received, seen = await self._seen(origin, mirror, received)
        if asked.behind and seen.broken:
            asked = await self._caught_up(origin, asked)
            received, seen = await self._seen(origin, mirror, received)
        return self._as_taken(received, mirror, asked, seen)

    async def again(self, taken: Taken) -> Taken:
        """The same push, read beside a mirror that is as the host. Raises: as `taken`."""
        grant, hash_name = self._coming.grant, self._coming.head.hash_name
        secret = await self._host.secret_for(grant)
        origin = Origin(self._host.address(grant), hash_name, secret)
        self._ms |= taken.ms
        asked = await self._caught_up(origin, taken.asked)
        with self._timed("read_again"):
            received, seen = await self._seen(origin, taken.mirror, taken.received)
        return self._as_taken(received, taken.mirror, asked, seen)

    def _as_taken(self, received: Received, mirror: Mirror, asked: Asked, seen: Result) -> Taken:
        if seen.trouble:
            raise Refused(seen.trouble)
        brought = _brought(self._coming, received, seen)
        return Taken(
            self._incoming, received, mirror, brought, asked, canary=seen.canary, ms=self._ms
        )

    async def _caught_up(self, origin: Origin, asked: Asked) -> Asked:
        with self._timed("refresh"):
            await self._mirrors.fresh(origin, asked.listing)
        return replace(asked, behind=frozenset())

    async def _ask(self, origin: Origin, mirror: Mirror) -> Asked:
        """Ask the host what it has, and have the mirror fresh enough. Raises: Unavailable."""
        with self._timed("ask"):
            try:
                asked = Asked(await self._host.listing(self._coming.grant, origin.hash_name))
            except SandgateError as error:
                asked = Asked(None, str(error))
        listing = asked.listing
        if listing is not None and listing.digest != mirror.digest:
            lacks = await asyncio.to_thread(mirror.lacks, listing)
            if lacks:
                return replace(asked, behind=lacks)
        return await self._caught_up(origin, asked)

    async def _received(self, mirror: Mirror) -> Received | Refused:
        """A refusal that may be the mirror's fault, which may be stale or damaged, is given back."""
        coming = self._coming
        try:
            return await self._incoming.receive(
                coming.head, coming.body, mirror.place, coming.most_bytes
            )
        except Refused as refused:
            if not coming.arrived.is_set():
                raise
            return refused

    async def _seen(
        self, origin: Origin, mirror: Mirror, received: Received | Refused
    ) -> tuple[Received, Result]:
        """What is in it; looked at again when the mirror is another by then, or turns out damaged."""
        if isinstance(received, Refused):
            try:
                received = await self._again(mirror)
            except Refused:
                if not await self._mirrors.mended(origin):
                    raise
                received = await self._again(mirror)
        seen = await self._looking.look(self._job(mirror, received))
        if seen.broken and await self._mirrors.mended(origin):
            received = await self._again(mirror)
            seen = await self._looking.look(self._job(mirror, received))
        return received, seen

    async def _again(self, mirror: Mirror) -> Received:
        coming = self._coming
        return await self._incoming.index_again(coming.head, mirror.place, coming.most_bytes)

    def _job(self, mirror: Mirror, received: Received) -> Job:
        head = self._coming.head
        return Job(
            id=0,
            repository=str(mirror.folder),
            objects=str(self._incoming.objects),
            oid_bytes=OID_BYTES[head.hash_name],
            index=str(received.index),
            count=received.count,
            moves=tuple((one.old, one.new, one.ref.decode("latin-1")) for one in head.updates),
            canaries=self._coming.canaries,
        )

    @contextmanager
    def _timed(self, step: str) -> Iterator[None]:
        began = perf_counter()
        try:
            yield
        finally:
            self._ms[step] = round((perf_counter() - began) * 1000)


def _brought(coming: Coming, received: Received, seen: Result) -> Brought:
    moves = tuple(
        Move(update, cast(ObjectKind | None, seen.kinds.get(update.new)), forward)
        for update, forward in zip(coming.head.updates, seen.forward, strict=True)
    )
    return Brought(
        moves=moves,
        commits=seen.commits,
        changes=seen.changes,
        objects=seen.objects,
        stray=seen.stray,
        pack_bytes=received.pack_bytes,
        links=seen.links,
        sightings=seen.sightings,
        telling=seen.telling,
        pointers=seen.pointers,
    )
