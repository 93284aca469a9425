"""Where a name leads: resolved once, every address judged, and only those judged are dialled.

The engine connects by name through the event loop; this loop knows no name but the one that was
judged in the same task just before, so that no second lookup can lead elsewhere. It is uvloop's:
half of what passing things on takes is the loop's own work.
"""

import asyncio
import socket
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from contextvars import ContextVar
from typing import Any, NoReturn
from weakref import WeakValueDictionary

import uvloop

from proxy.addresses import Network, undialable

RESOLVE_S = 10.0
CONNECT_S = 20.0
RESOLVERS = 32
SHARE = 8
"""So many of the threads that resolve may be at work for one client."""
_judged: ContextVar[tuple[str, Sequence[str]] | None] = ContextVar("judged", default=None)


class Undialable(Exception):
    """The name leads nowhere that may be dialled. `forbidden` tells it from one that leads nowhere."""

    def __init__(self, reason: str, *, forbidden: bool) -> None:
        super().__init__(reason)
        self.forbidden = forbidden


class PinnedLoop(uvloop.Loop):
    """An event loop that connects only to addresses that were judged for the name asked for."""

    async def create_connection(
        self, protocol_factory: Any, host: Any = None, port: Any = None, **given: Any
    ) -> tuple[Any, Any]:
        """To the first of the judged addresses of `host` that answers.

        Raises: OSError, TimeoutError among them; for any other name at once.
        """
        judged = _judged.get()
        if judged is None or judged[0] != host or not judged[1]:
            raise OSError(f"{host!r} was not judged")
        *others, last = judged[1]
        for address in others:
            with suppress(OSError):
                return await self._connected(protocol_factory, address, port, given)
        return await self._connected(protocol_factory, last, port, given)

    async def getaddrinfo(self, host: Any, *_: Any, **__: Any) -> NoReturn:
        """Nothing is looked up here. Raises: OSError."""
        raise OSError(f"{host!r} was not judged")

    async def _connected(
        self, protocol_factory: Any, address: str, port: Any, given: Mapping[str, Any]
    ) -> tuple[Any, Any]:
        async with asyncio.timeout(CONNECT_S):
            return await super().create_connection(protocol_factory, address, port, **given)


async def judge(
    host: str,
    port: int,
    client: str,
    resolver: "Resolver",
    *,
    refused: Iterable[Network],
    networks: Iterable[Network],
) -> None:
    """Resolve the canonical `host` for a client, and let this task dial what it resolves to.

    One address that may not be dialled refuses them all: the name is not to be trusted.
    Raises: Undialable.
    """
    _judged.set(None)
    addresses = await resolver.addresses(host, port, client)
    for address in addresses:
        reason = undialable(address, refused=refused, networks=networks)
        if not reason and is_own(address):
            reason = f"{address} is this machine"
        if reason:
            raise Undialable(f"{host} leads to where nothing is sent: {reason}", forbidden=True)
    _judged.set((host, addresses))


def is_own(address: str) -> bool:
    """Say whether the address is one of this machine's: only to such a one can a socket be bound."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        try:
            probe.bind((address, 0))
        except OSError:
            return False
    return True


class Resolver:
    """Resolves names, in threads of its own. Slow names of one client keep no other waiting.

    `client` is its address.
    """

    def __init__(
        self,
        look_up: Callable[..., list[Any]] = socket.getaddrinfo,
        *,
        threads: int = RESOLVERS,
        share: int = SHARE,
    ) -> None:
        self._look_up = look_up
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="resolve")
        self._share = share
        self._shares = WeakValueDictionary[str, asyncio.Semaphore]()

    async def addresses(self, host: str, port: int, client: str) -> Sequence[str]:
        """What the name leads to. Raises: Undialable when that is nowhere, or takes too long."""
        try:
            async with asyncio.timeout(RESOLVE_S):
                found = await self._found(host, port, client)
        except (OSError, TimeoutError, UnicodeError) as error:
            raise Undialable(f"{host} can't be resolved", forbidden=False) from error
        return tuple(dict.fromkeys(str(sockaddr[0]) for *_, sockaddr in found))

    async def _found(self, host: str, port: int, client: str) -> list[Any]:
        share = self._shares.setdefault(client, asyncio.Semaphore(self._share))
        loop = asyncio.get_running_loop()

        def done(_: object) -> None:
            with suppress(RuntimeError):  # the loop is closed: nobody waits there any more
                loop.call_soon_threadsafe(share.release)

        await share.acquire()
        job = self._threads.submit(self._look_up, host, port, type=socket.SOCK_STREAM)
        # Not when nobody waits for it any more: a thread can't be called back from the system's resolver.
        job.add_done_callback(done)
        return await asyncio.wrap_future(job)
