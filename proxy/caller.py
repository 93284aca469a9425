"""One client connection, as the parts that serve it share it."""

from collections.abc import Callable
from dataclasses import dataclass, field

from mitmproxy.connection import Connection, Server

from proxy.addresses import Network
from proxy.backlog import Backlog
from proxy.decision import Allow
from proxy.door import Door
from proxy.exchange import Exchange
from proxy.policy import SandboxPolicy
from proxy.reading import Reader


@dataclass(slots=True, kw_only=True)
class Caller:
    """Who calls, what is read from it, and how it is cut off."""

    door: Door
    address: str
    cut: Callable[[], None]
    """End the connection at once, so that the other end sees that it was broken off."""
    hang_up: Callable[[Connection], None]
    """End a connection to a server."""
    reader: Reader
    """Of the innermost requests: of the tunnel's, once there is one."""
    sandbox: SandboxPolicy | None = None
    dialable: tuple[Network, ...] = ()
    """Networks that what was allowed last may dial though they aren't public."""
    undialable: str = ""
    """Why what was to be dialled last was not, where that is forbidden."""
    tunnel: "Tunnel | None" = None
    from_client: Backlog = field(default_factory=Backlog)
    from_server: Backlog = field(default_factory=Backlog)

    def moved(self, exchange: Exchange, number: int) -> None:
        """So many bytes more of it: beyond what its run or its rule allows, it is broken off."""
        used = self.door.usage.transferred(exchange.run, number)
        limit, most = exchange.limit, exchange.allow.max_bytes
        if limit is not None and used > limit:
            self.break_off(exchange, f"the run has used up its {limit} bytes")
        elif most is not None and exchange.received.count > most:
            self.break_off(exchange, f"more than the {most} bytes allowed came back")

    def break_off(self, exchange: Exchange, reason: str) -> None:
        """End the connection in the middle of it; the first reason counts."""
        exchange.cut = exchange.cut or reason
        self.cut()


@dataclass(slots=True)
class Tunnel:
    """A tunnel that was opened: where it goes, and whether anything was asked in it."""

    host: str
    port: int
    allow: Allow
    told: bool = False
    """Something of it is in the log: a request, or itself."""
    trouble: dict[str, str] = field(default_factory=dict)
    """Why no request came."""


def address_of(server: Server) -> str:
    """The address that was dialled, with its port; empty when none was."""
    return f"{server.peername[0]}:{server.peername[1]}" if server.peername else ""
