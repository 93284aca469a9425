"""Takes a push in, whole, and reads it, before anything of it goes to the host."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any

import structlog

from entrance.errors import SandgateError
from entrance.git.body import RequestBody
from entrance.git.listing import Listing
from entrance.git.quarantine.git_child import GitFailed
from entrance.git.quarantine.incoming import Incoming, IncomingFolder, Received, Refused
from entrance.git.quarantine.looking import Looking
from entrance.git.quarantine.mirror import Mirror, Mirrors, Origin
from entrance.git.quarantine.reading import Read, Reading
from entrance.git.receive_pack import PushHead
from entrance.git.upstream import GitHost
from entrance.session import RepoGrant

log = structlog.get_logger()

MIRRORS, INCOMING = "mirrors", "incoming"
Canaries = tuple[tuple[str, str], ...]


@dataclass(slots=True)
class Steps:
    """How long each step took, in milliseconds. They overlap."""

    ms: dict[str, int] = field(default_factory=dict)

    def begin(self, name: str) -> Callable[[], None]:
        """The step begins; what is given back ends it."""
        began = perf_counter()

        def end() -> None:
            self.ms[name] = round((perf_counter() - began) * 1000)

        return end


@dataclass(frozen=True, slots=True)
class Coming:
    """A push whose head was read, and where it wants to go."""

    head: PushHead
    body: RequestBody
    grant: RepoGrant
    canaries: Canaries = ()
    most_bytes: int = 2 << 30
    """The largest pack."""
    arrived: asyncio.Event = field(default_factory=asyncio.Event)
    """Set once all of it is here."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What the host said of its refs. `listing`: None when it can't be asked that way; `why` not."""

    listing: Listing | None
    why: str = ""


@dataclass(frozen=True, slots=True)
class Taken:
    """A push that is here, whole, and was read."""

    incoming: Incoming
    received: Received
    mirror: Mirror
    read: Read
    asked: Asked
    steps: Steps


class Quarantine:
    """Pushes wait below `folder` while they are looked at."""

    def __init__(self, folder: Path, host: GitHost, looking: Looking | None = None) -> None:
        self.mirrors = Mirrors(folder / MIRRORS)
        self._host = host
        self._incoming = IncomingFolder(folder / INCOMING)
        self._looking = looking or Looking()
        self._beside: set[asyncio.Future[None]] = set()

    async def open(self) -> None:
        """Remove what a crash left. Before the first push. Raises: OSError."""
        await asyncio.to_thread(self._incoming.sweep)
        await asyncio.to_thread(self.mirrors.sweep)

    async def close(self) -> None:
        """End what goes on beside. Idempotent."""
        for task in tuple(self._beside):
            task.cancel()
        if self._beside:
            await asyncio.wait(self._beside)
        await self._looking.close()

    def warm(self, grant: RepoGrant) -> None:
        """Have the mirror and the looker ready beside: a push is likely."""
        key = self.mirrors.of(self._host.address(grant), "sha1")
        if key.digest or key.lock.locked():
            return
        self._do_beside(self._warm(grant))

    @asynccontextmanager
    async def take(self, coming: Coming) -> AsyncIterator[Taken]:
        """The push, received and read; it is gone after the block, unless it was moved away.

        Raises: Refused with a sentence for the agent; BodyError as the body does.
        """
        async with self._incoming.place(coming.arrived) as incoming:
            try:
                taken = await self._taken(coming, incoming)
            except SandgateError as error:
                raise Refused(str(error)) from error
            except GitFailed as failed:
                log.warning("push_not_read", repository=coming.grant.name, error=str(failed))
                raise Refused(f"the push can't be read: {failed}") from failed
            yield taken

    async def _taken(self, coming: Coming, incoming: Incoming) -> Taken:
        steps, head, grant = Steps(), coming.head, coming.grant
        origin = Origin(
            self._host.address(grant), head.hash_name, await self._host.secret_for(grant)
        )
        mirror = self.mirrors.of(origin.url, origin.hash_name)
        before = mirror.digest
        asking = asyncio.ensure_future(self._asked(coming, origin, steps))
        try:
            if not before:
                await asking
            ended = steps.begin("receive")
            received = await self._received(coming, incoming, mirror)
            ended()
            asked = await asking
        finally:
            asking.cancel()
            await asyncio.wait([asking])
        ended = steps.begin("read")
        if received is None and mirror.digest != before:
            received = await incoming.index_again(head, mirror.place, coming.most_bytes)
        read, received = await self._read(coming, incoming, origin, received)
        ended()
        return Taken(incoming, received, mirror, read, asked, steps)

    async def _received(
        self, coming: Coming, incoming: Incoming, mirror: Mirror
    ) -> Received | None:
        """None when it is here, but can't be indexed on this mirror."""
        try:
            return await incoming.receive(coming.head, coming.body, mirror.place, coming.most_bytes)
        except Refused:
            if not coming.arrived.is_set():
                raise
            return None

    async def _read(
        self, coming: Coming, incoming: Incoming, origin: Origin, received: Received | None
    ) -> tuple[Read, Received]:
        """What is in it; a second time when the mirror turns out to be damaged."""
        mirror = self.mirrors.of(origin.url, origin.hash_name)
        head = coming.head
        try:
            if received is None:
                received = await incoming.index_again(head, mirror.place, coming.most_bytes)
            reading = Reading(incoming, mirror.place, head, received)
            return await reading.read(self._looking, coming.canaries), received
        except (Refused, GitFailed):
            if not await self.mirrors.mended(origin):
                raise
        received = await incoming.index_again(head, mirror.place, coming.most_bytes)
        reading = Reading(incoming, mirror.place, head, received)
        return await reading.read(self._looking, coming.canaries), received

    async def _asked(self, coming: Coming, origin: Origin, steps: Steps) -> Asked:
        """Ask the host what it has, and have the mirror as fresh. Raises: Unavailable."""
        ended = steps.begin("ask")
        try:
            asked = Asked(await self._host.listing(coming.grant, origin.hash_name))
        except SandgateError as error:
            asked = Asked(None, str(error))
        ended()
        ended = steps.begin("refresh")
        await self.mirrors.fresh(origin, asked.listing)
        ended()
        return asked

    async def _warm(self, grant: RepoGrant) -> None:
        try:
            hash_name = await self._host.hash_name(grant)
            origin = Origin(
                self._host.address(grant), hash_name, await self._host.secret_for(grant)
            )
            await self.mirrors.fresh(origin, await self._host.listing(grant, hash_name))
            await self._looking.warm()
        except SandgateError as error:
            log.info("mirror_not_warmed", repository=grant.name, error=str(error))

    def _do_beside(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.ensure_future(work)
        self._beside.add(task)
        task.add_done_callback(self._beside.discard)
