"""A name server for tests: answers A and AAAA from a table, each time with the next of several answers."""

import asyncio
import ipaddress
import socket
import struct
from collections import Counter
from collections.abc import Mapping, Sequence

_HEAD = struct.Struct("!HHHHHH")
_A, _AAAA = 1, 28


class NameServer(asyncio.DatagramProtocol):
    """`names`: for each name a list of answers, each a list of addresses; the last one is kept."""

    def __init__(self, names: Mapping[str, Sequence[Sequence[str]]]) -> None:
        self.names = names
        self.asked: Counter[str] = Counter()
        """How often each name was asked for, as A."""
        self._transport: asyncio.DatagramTransport | None = None

    async def start(self, sock: socket.socket) -> None:
        """Serve on a socket that is bound already."""
        loop = asyncio.get_running_loop()
        self._transport, _ = await loop.create_datagram_endpoint(lambda: self, sock=sock)

    def stop(self) -> None:
        """Answer no more."""
        if self._transport is not None:
            self._transport.close()

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        number, *_ = _HEAD.unpack_from(data)
        name, end = _name(data)
        kind = int.from_bytes(data[end : end + 2])
        answers = self.names.get(name)
        at = self.asked[name]
        addresses = answers[min(at, len(answers) - 1)] if answers else []
        if kind == _A:
            self.asked[name] += 1
        found = [packed for one in addresses if (packed := _packed(one, kind))]
        flags = 0x8180 if answers else 0x8183
        out = _HEAD.pack(number, flags, 1, len(found), 0, 0) + data[_HEAD.size : end + 4]
        for packed in found:
            out += struct.pack("!HHHIH", 0xC00C, kind, 1, 0, len(packed)) + packed
        if self._transport is not None:
            self._transport.sendto(out, addr)


def _packed(address: str, kind: int) -> bytes:
    parsed = ipaddress.ip_address(address)
    return parsed.packed if {4: _A, 6: _AAAA}[parsed.version] == kind else b""


def _name(data: bytes) -> tuple[str, int]:
    at, labels = _HEAD.size, []
    while length := data[at]:
        labels.append(data[at + 1 : at + 1 + length].decode("latin-1"))
        at += 1 + length
    return ".".join(labels).lower(), at + 1
