"""Addresses of this machine that nobody uses yet: a subnet for sandboxes, loopback ports."""

import socket
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from ipaddress import AddressValueError, IPv4Address, IPv4Network
from pathlib import Path

from orchestrator.stack.steps import StepFailed

# Below the range from which the kernel hands out ports of outgoing connections: a service that is
# down for a while finds its port free again.
FIRST_PORT = 20000
PORTS = 12000
LISTEN = "0A"
TRIES = 4000
BLOCK = 8


def free_subnet(seed: int, *, taken: Iterable[IPv4Network] | None = None) -> IPv4Network:
    """A /24 that no route and no name server of this machine is in; the same for the same seed.

    Raises: StepFailed when there is none.
    """
    busy = list(taken_networks() if taken is None else taken)
    for candidate in _candidates(seed):
        if not any(candidate.overlaps(network) for network in busy):
            return candidate
    raise StepFailed(
        "No private subnet is free for the sandbox network",
        why="the routes of this machine cover 10.0.0.0/8, 172.16.0.0/12 and 192.168.0.0/16",
        what_to_do="Free one /24 of them (see: ip route).",
    )


def free_ports(seed: int, number: int, *, free: Callable[[int], bool] | None = None) -> list[int]:
    """`number` loopback ports on which nothing listens; the same for the same seed and machine.

    Raises: StepFailed when there aren't as many.
    """
    is_free = free or port_is_free
    found: list[int] = []
    # Blocks, so that installations side by side don't straddle each other's ports.
    start = seed % (PORTS // BLOCK) * BLOCK
    for step in range(TRIES):
        port = FIRST_PORT + (start + step) % PORTS
        if is_free(port):
            found.append(port)
        if len(found) == number:
            return found
    raise StepFailed("No loopback ports are free", why=f"tried {TRIES} from {FIRST_PORT} on")


def port_is_free(port: int, host: str = "127.0.0.1") -> bool:
    """Say whether a service could listen there now."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
    return True


def require_free_port(what: str, port: int, host: str = "127.0.0.1") -> None:
    """Raises: StepFailed, naming who holds it, when `what` can't listen on the port."""
    if port_is_free(port, host):
        return
    holder = port_holder(port)
    raise StepFailed(
        f"{what} can't listen on {host}:{port}",
        why=f"{holder} does" if holder else "another program does",
        what_to_do="End that program, or move this installation: ports are in installation.json.",
    )


def port_holder(port: int) -> str | None:
    """Who listens on the TCP port, as `name (pid N)`; None when it can't be known."""
    sockets = set(_listening_sockets(port))
    for fd in Path("/proc").glob("[0-9]*/fd/*") if sockets else ():
        with suppress(OSError):
            if str(fd.readlink()) in sockets:
                process = fd.parent.parent
                return f"{(process / 'comm').read_text().strip()} (pid {process.name})"
    return None


def taken_networks(
    routes: Path = Path("/proc/net/route"), resolv: Path = Path("/etc/resolv.conf")
) -> list[IPv4Network]:
    """The networks this machine has a route to (not the default one), and its name servers."""
    found: list[IPv4Network] = []
    for line in routes.read_text().splitlines()[1:]:
        words = line.split()
        network = IPv4Network((_little_endian(words[1]), str(_little_endian(words[7]))))
        if network.prefixlen:
            found.append(network)
    with suppress(OSError):
        for line in resolv.read_text().splitlines():
            words = line.split()
            if words[:1] == ["nameserver"]:
                with suppress(AddressValueError):
                    found.append(IPv4Network(IPv4Address(words[1])))
    return found


def _candidates(seed: int) -> Iterator[IPv4Network]:
    """All private /24 networks, 10.x first, in an order of the seed's own."""
    for block in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"):
        network = IPv4Network(block)
        subnets = 2 ** (24 - network.prefixlen)
        first = int(network.network_address)
        for step in range(subnets):
            yield IPv4Network((first + (seed + step) % subnets * 256, 24))


def _listening_sockets(port: int) -> Iterator[str]:
    for table in ("tcp", "tcp6"):
        with suppress(OSError):
            for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
                words = line.split()
                if words[3] == LISTEN and int(words[1].rpartition(":")[2], 16) == port:
                    yield f"socket:[{words[9]}]"


def _little_endian(word: str) -> IPv4Address:
    return IPv4Address(int.from_bytes(bytes.fromhex(word), "little"))
