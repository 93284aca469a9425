"""Servers of this machine that must not be reached, and count who comes.

Whoever comes names the probe that sent it: the first line over TCP, a datagram's content, the first
label of a name that is looked up, the first part of an HTTP path.
"""

import asyncio
import re
import socket
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from ipaddress import IPv4Network, ip_address
from typing import cast

READ_S = 1.0
MOST_BYTES = 2048
MARK = re.compile(
    rb"\A(?:[A-Z]{3,8} (?:https?://[^/ ]+)?/)?([a-z0-9][a-z0-9-]{0,62})(?:[\s/?. ]|\Z)"
)
NAME_PORT = 53
VISIT_S = 1.0
CHECK = b"canaries-count"
"""The name under which the canaries are tried themselves."""
STRANGER = ""
"""Under this name those are counted who come from the sandboxes' network and name no probe."""


@dataclass
class Canaries:
    """Counts who comes from `network`, by the probe that is named."""

    network: IPv4Network
    counted: Counter[str] = field(default_factory=Counter)
    places: list[tuple[socket.SocketKind, str, int]] = field(default_factory=list)
    """Where they listen: an address of the host for those that listen at all of them."""

    async def listen(
        self, stack: AsyncExitStack, sockets: list[socket.socket], *, everywhere: str = "127.0.0.1"
    ) -> None:
        """Serve bound sockets until the stack closes: streams, datagrams; port 53 is asked for names.

        `everywhere`: an address by which those can be reached that listen at every one.
        """
        for one in sockets:
            address, port = one.getsockname()[:2]
            self.places.append((one.type, everywhere if address == "::" else address, port))
            names = port == NAME_PORT
            one.settimeout(0)
            if one.type == socket.SOCK_STREAM:
                server = await asyncio.start_server(self._serve(names=names), sock=one)
                stack.callback(server.close)
            else:
                loop = asyncio.get_running_loop()
                transport, _ = await loop.create_datagram_endpoint(
                    lambda names=names: _Datagrams(self, names=names),  # type: ignore[misc]  # bound now
                    sock=one,
                )
                stack.callback(transport.close)

    def came(self, peer: str, mark: bytes | None) -> None:
        """Count a visit, if it is one of a sandbox."""
        address = ip_address(peer.partition("%")[0])
        mapped = getattr(address, "ipv4_mapped", None) or address
        ours = mapped.version == 4 and mapped in self.network  # noqa: PLR2004 - IPv4
        if ours or mark == CHECK:
            self.count(mark.decode() if mark else STRANGER)

    async def deaf(self) -> list[str]:
        """Those that don't count who comes: a visit that this machine makes itself is tried at each."""
        deaf = []
        for kind, host, port in self.places:
            before = self.counted[CHECK.decode()]
            await asyncio.to_thread(_visit, kind, host, port)
            if self.counted[CHECK.decode()] == before:  # they count before they answer
                deaf.append(f"{host}:{port} {kind.name}")
        return deaf

    def count(self, mark: str) -> None:
        """Count a visit that names this probe."""
        self.counted[mark] += 1

    def _serve(
        self, *, names: bool
    ) -> Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]:
        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            said = b""
            with suppress(TimeoutError, OSError):
                async with asyncio.timeout(READ_S):
                    said = await reader.read(MOST_BYTES)
            mark = name_asked(said[2:]) if names else mark_in(said)
            self.came(str(writer.get_extra_info("peername")[0]), mark)
            with suppress(OSError):
                answer = answer_to(said[2:]) if names else b"canary\n"
                writer.write(len(answer).to_bytes(2) + answer if names else answer)
                await writer.drain()
            writer.close()

        return serve


def _visit(kind: socket.SocketKind, host: str, port: int) -> None:
    """Come by as a probe would."""
    asked = question_for(CHECK) if port == NAME_PORT else CHECK + b"\n"
    if port == NAME_PORT and kind == socket.SOCK_STREAM:
        asked = len(asked).to_bytes(2) + asked
    with suppress(OSError), socket.socket(socket.AF_INET, kind) as one:
        one.settimeout(VISIT_S)
        one.connect((host, port))
        one.sendall(asked)
        one.recv(MOST_BYTES)


def question_for(label: bytes) -> bytes:
    """A DNS question for a name of this one label [pure]."""
    return b"\0\1\1\0\0\1\0\0\0\0\0\0" + bytes([len(label)]) + label + b"\0\0\1\0\1"


class _Datagrams(asyncio.DatagramProtocol):
    """Counts datagrams, and answers them: else an open way would look closed from inside."""

    def __init__(self, canaries: Canaries, *, names: bool) -> None:
        self._canaries = canaries
        self._names = names
        self._transport: asyncio.DatagramTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.DatagramTransport", transport)  # other loops have their own

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        self._canaries.came(addr[0], name_asked(data) if self._names else mark_in(data))
        if self._transport is not None:
            self._transport.sendto(answer_to(data) if self._names else b"canary\n", addr)


def mark_in(said: bytes) -> bytes | None:
    """The probe that a visitor names; None when it names none [pure]."""
    found = MARK.match(said)
    return found[1] if found else None


def name_asked(question: bytes) -> bytes | None:
    """The first label of the name in a DNS question, which is the probe's [pure]."""
    if len(question) < 14 or not question[12]:  # noqa: PLR2004 - a header and a label
        return None
    return mark_in(question[13 : 13 + question[12]])


def answer_to(question: bytes) -> bytes:
    """NXDOMAIN to a DNS question [pure]."""
    return question[:2] + b"\x81\x83" + question[4:6] + b"\0\0\0\0\0\0" + question[12:]


def host_sockets(port: int = 0) -> list[socket.socket]:
    """A TCP and a UDP socket on the same port at every address of the host. Raises: OSError."""
    tcp = socket.create_server(("::", port), family=socket.AF_INET6, dualstack_ipv6=True)
    udp = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
    try:
        udp.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        udp.bind(("::", tcp.getsockname()[1]))
    except OSError:
        tcp.close()
        udp.close()
        raise
    return [tcp, udp]


def name_sockets(address: str) -> list[socket.socket]:
    """Port 53 of an address; nothing when somebody has it already."""
    tcp, udp = socket.socket(), socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    try:
        tcp.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        tcp.bind((address, NAME_PORT))
        tcp.listen()
        udp.bind((address, NAME_PORT))
    except OSError:
        tcp.close()
        udp.close()
        return []
    return [tcp, udp]
