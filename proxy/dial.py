"""Where a name leads: resolved once, every address judged, and only those judged are dialled.

The engine connects by name through the event loop; this loop knows no name but the one that was
judged in the same task just before, so that no second lookup can lead elsewhere.
"""

import asyncio
import socket
from collections.abc import Iterable, Sequence
from contextvars import ContextVar
from typing import Any

from proxy.addresses import Network, undialable

RESOLVE_S = 10.0
CONNECT_S = 20.0
_judged: ContextVar[tuple[str, Sequence[str]] | None] = ContextVar("judged", default=None)


class Undialable(Exception):
    """The name leads nowhere that may be dialled. `forbidden` tells it from one that leads nowhere."""

    def __init__(self, reason: str, *, forbidden: bool) -> None:
        super().__init__(reason)
        self.forbidden = forbidden


class PinnedLoop(asyncio.SelectorEventLoop):
    """An event loop that connects only to addresses that were judged for the name asked for."""

    async def getaddrinfo(self, host: Any, port: Any, **_hints: Any) -> list[Any]:
        """The judged addresses of `host`. Raises: OSError for any other name."""
        judged = _judged.get()
        if judged is None or judged[0] != host:
            raise OSError(f"{host!r} was not judged")
        return [
            (
                socket.AF_INET6 if ":" in address else socket.AF_INET,
                socket.SOCK_STREAM,
                socket.IPPROTO_TCP,
                "",
                (address, port),
            )
            for address in judged[1]
        ]

    async def sock_connect(self, sock: socket.socket, address: Any) -> None:
        """As it is, with a patience. Raises: OSError, TimeoutError among them."""
        async with asyncio.timeout(CONNECT_S):
            await super().sock_connect(sock, address)


async def judge(
    host: str, port: int, *, refused: Iterable[Network], networks: Iterable[Network]
) -> None:
    """Resolve the canonical `host`, and let this task dial what it resolves to.

    One address that may not be dialled refuses them all: the name is not to be trusted.
    Raises: Undialable.
    """
    _judged.set(None)
    addresses = await _resolve(host, port)
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


async def _resolve(host: str, port: int) -> Sequence[str]:
    loop = asyncio.get_running_loop()
    try:
        async with asyncio.timeout(RESOLVE_S):
            found = await loop.run_in_executor(
                None, lambda: socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
            )
    except (OSError, TimeoutError, UnicodeError) as error:
        raise Undialable(f"{host} can't be resolved", forbidden=False) from error
    return tuple(dict.fromkeys(str(sockaddr[0]) for *_, sockaddr in found))
