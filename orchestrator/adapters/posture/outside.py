"""A canary beyond a route: an address that is not the host's, in a network namespace of a thread.

It plays the world outside. The address is one that documentation owns (RFC 5737), so that nobody's
traffic is touched. Nothing stays: the namespace lives as long as its sockets and its thread do, and
with it go the interface and the route.
"""

import hashlib
import os
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv4Network

NETWORK = IPv4Network("203.0.113.0/24")
BLOCK = 4
"""Addresses of one installation's canary: so several on a machine don't meet."""
TCP_PORTS = (22, 53, 80, 443, 853, 8443)
UDP_PORTS = (53, 123, 443, 4500)
COMMAND_S = 5.0


@dataclass(frozen=True, slots=True)
class Outside:
    """Its address, and its sockets, bound; none where this machine lets us make no namespace."""

    address: str
    sockets: list[socket.socket] = field(default_factory=list)


@contextmanager
def outside(interface: str) -> Iterator[Outside]:
    """Make it for the time of the block. `interface` is a name of its own, at most 14 characters."""
    address, beside = addresses_of(interface)
    ready, over = threading.Event(), threading.Event()
    made: list[socket.socket] = []

    def live() -> None:
        with suppress(OSError, subprocess.SubprocessError):
            os.unshare(os.CLONE_NEWNET)  # of this thread alone
            _connect(interface, address, beside)
            made.extend(_bound(address))
        ready.set()
        over.wait()

    thread = threading.Thread(target=live, name="outside canary", daemon=True)
    thread.start()
    ready.wait()
    try:
        if made:
            _ip("address", "add", f"{beside}/30", "dev", interface)
            _ip("link", "set", interface, "up")
        yield Outside(address, made)
    finally:
        over.set()
        thread.join()
        for one in made:
            one.close()
        _ip("link", "delete", interface, check=False)


def addresses_of(interface: str) -> tuple[str, str]:
    """The canary's address, and the host's beside it, by the interface's name [pure]."""
    blocks = NETWORK.num_addresses // BLOCK
    block = int.from_bytes(hashlib.sha256(interface.encode()).digest()[:2]) % blocks
    first = IPv4Address(int(NETWORK.network_address) + block * BLOCK + 1)
    return str(first), str(first + 1)


def _connect(interface: str, address: str, beside: str) -> None:
    """A cable between this thread's namespace and the host, with the canary's address at its end."""
    peer = f"{interface[:14]}p"
    host = str(os.getpid())  # the process's own namespace is that of its first thread
    _ip("link", "add", peer, "type", "veth", "peer", "name", interface, "netns", host)
    _ip("address", "add", f"{address}/30", "dev", peer)
    _ip("link", "set", peer, "up")
    _ip("link", "set", "lo", "up")
    _ip("route", "add", "default", "via", beside)


def _bound(address: str) -> Iterator[socket.socket]:
    for port in TCP_PORTS:
        yield socket.create_server((address, port))
    for port in UDP_PORTS:
        one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        one.bind((address, port))
        yield one


def _ip(*arguments: str, check: bool = True) -> None:
    """Run `ip` in the namespace of the thread that calls. Raises: OSError, SubprocessError."""
    subprocess.run(["ip", *arguments], capture_output=True, check=check, timeout=COMMAND_S)
