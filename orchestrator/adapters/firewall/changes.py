"""Hears of every change of one nft table, from whomever, in the moment in which the kernel makes it.

The kernel tells of changes over netlink (`nft monitor` listens to the same). What was changed isn't
read here: whoever hears of a change looks at the table.
"""

import asyncio
import errno
import socket
import struct
from collections.abc import AsyncGenerator, Iterator

from entrance.errors import Unavailable

NETLINK_NETFILTER = 12
SOL_NETLINK, ADD_MEMBERSHIP = 270, 1
GROUP_NFTABLES = 7
SUBSYSTEM_NFTABLES = 10
ELEMENT_MESSAGES = frozenset({12, 14})
"""NEWSETELEM, DELSETELEM."""
TABLE_ATTRIBUTE, SET_ATTRIBUTE = 1, 2
"""In every message of a table's part the first names the table; an element's second names its set."""
BUFFER_BYTES = 1 << 20
ADDRESSES = "bind"
"""The set that we change ourselves all the time; what is in it is no wall."""


async def changes(table: str) -> AsyncGenerator[None]:
    """One value as soon as it listens, and then one whenever the table was changed.

    What the kernel could not tell, because it was too much, counts as a change.
    Raises: Unavailable when it can't be listened to.
    """
    loop = asyncio.get_running_loop()
    try:
        kind = socket.SOCK_RAW | socket.SOCK_NONBLOCK
        with socket.socket(socket.AF_NETLINK, kind, NETLINK_NETFILTER) as heard:
            heard.bind((0, 0))
            heard.setsockopt(SOL_NETLINK, ADD_MEMBERSHIP, GROUP_NFTABLES)
            yield
            while True:
                if concerns(await _next(loop, heard), table):
                    yield
    except OSError as error:
        raise Unavailable(f"changes of the firewall can't be heard of: {error}") from error


async def _next(loop: asyncio.AbstractEventLoop, heard: socket.socket) -> bytes:
    """What was told; nothing when the kernel had to drop some of it."""
    try:
        return await loop.sock_recv(heard, BUFFER_BYTES)
    except OSError as error:
        if error.errno != errno.ENOBUFS:
            raise
        return b""


def concerns(told: bytes, table: str) -> bool:
    """Whether a datagram tells of a change of the table's walls; one that can't be read does [pure]."""
    try:
        return not told or any(_is_of(message, table) for message in _messages(told))
    except (struct.error, ValueError):
        return True


def _messages(told: bytes) -> Iterator[tuple[int, bytes]]:
    """The nftables messages of a datagram: each one's kind, and its attributes."""
    at = 0
    while at < len(told):
        length, kind = struct.unpack_from("=IH", told, at)
        if length < 20:  # noqa: PLR2004 - netlink's header and netfilter's
            raise ValueError("a message shorter than its header")
        if kind >> 8 == SUBSYSTEM_NFTABLES:
            yield kind & 0xFF, told[at + 20 : at + length]
        at += _aligned(length)


def _is_of(message: tuple[int, bytes], table: str) -> bool:
    kind, attributes = message
    said = dict(_attributes(attributes))
    if said.get(TABLE_ATTRIBUTE) != _name(table):
        return False
    return kind not in ELEMENT_MESSAGES or said.get(SET_ATTRIBUTE) != _name(ADDRESSES)


def _attributes(attributes: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at < len(attributes):
        length, kind = struct.unpack_from("=HH", attributes, at)
        if length < 4:  # noqa: PLR2004 - its own header
            raise ValueError("an attribute shorter than its header")
        yield kind & 0x3FFF, attributes[at + 4 : at + length]
        at += _aligned(length)


def _name(text: str) -> bytes:
    return text.encode() + b"\0"


def _aligned(length: int) -> int:
    return (length + 3) & ~3
