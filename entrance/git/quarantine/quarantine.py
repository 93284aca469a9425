"""Where pushes are taken in before anything of them goes to the host; what is beside that is done here."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Coroutine, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import structlog

from entrance.errors import SandgateError
from entrance.git.quarantine.git_child import GitFailed
from entrance.git.quarantine.incoming import Incoming, IncomingFolder, Refused
from entrance.git.quarantine.looking import Looking
from entrance.git.quarantine.mirror import Origin
from entrance.git.quarantine.mirrors import Mirrors
from entrance.git.quarantine.taking import Coming, Taken, Taking
from entrance.git.upstream import GitHost
from entrance.ports import Moved
from entrance.session import RepoGrant

log = structlog.get_logger()

MIRRORS, INCOMING = "mirrors", "incoming"


class Quarantine:
    """Pushes wait below `folder` while they are looked at."""

    def __init__(
        self,
        folder: Path,
        host: GitHost,
        looking: Looking | None = None,
        needed: Callable[[], Collection[Path]] = tuple,
    ) -> None:
        """`needed`: as `Mirrors` has it."""
        self.mirrors = Mirrors(folder / MIRRORS, needed)
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
        """Have the mirror and the looker ready, beside: a push is likely."""
        if not self.mirrors.knows(self._host.address(grant)):
            self._do_beside(self._warm(grant))

    @asynccontextmanager
    async def take(self, coming: Coming) -> AsyncIterator[Taken]:
        """The push, received and read; it is gone after the block, unless it was moved away.

        Raises: Refused with a sentence for the agent; BodyError as the body does.
        """
        async with self._incoming.place(coming.arrived) as incoming:
            yield await _refused(coming, self._taking(coming, incoming).taken())

    async def again(self, coming: Coming, taken: Taken) -> Taken:
        """The same, when it was read beside a mirror that is behind, and that may matter.

        Raises: Refused.
        """
        return await _refused(coming, self._taking(coming, taken.incoming).again(taken))

    def _taking(self, coming: Coming, incoming: Incoming) -> Taking:
        return Taking(coming, incoming, self._host, self.mirrors, self._looking)

    async def absorb(self, taken: Taken, moved: Sequence[Moved]) -> None:
        """The host has taken these: so does the mirror, which then needn't fetch them."""
        if taken.received.count:
            await asyncio.to_thread(taken.mirror.take_pack, taken.received.index)
        self._do_beside(self.mirrors.move(taken.mirror, moved))

    async def _warm(self, grant: RepoGrant) -> None:
        try:
            hash_name = await self._host.hash_name(grant)
            secret = await self._host.secret_for(grant)
            origin = Origin(self._host.address(grant), hash_name, secret)
            await self.mirrors.fresh(origin, await self._host.listing(grant, hash_name))
            await self._looking.warm()
        except SandgateError as error:
            log.info("mirror_not_warmed", repository=grant.name, error=str(error))

    def _do_beside(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.ensure_future(work)
        self._beside.add(task)
        task.add_done_callback(self._beside.discard)


async def _refused(coming: Coming, taking: Awaitable[Taken]) -> Taken:
    """What goes wrong, as a sentence for the agent. Raises: Refused; BodyError as the body does."""
    try:
        return await taking
    except SandgateError as error:
        raise Refused(str(error)) from error
    except GitFailed as failed:
        log.warning("push_not_read", repository=coming.grant.name, error=str(failed))
        raise Refused(f"the push can't be read: {failed}") from failed
