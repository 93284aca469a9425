"""The ways to the origin that the egress proxy's bench compares, and a client that takes them."""

import asyncio
import os
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

from tests.servers.asking import connect
from tests.servers.egress import ALLOWED, ORIGIN, SANDBOX
from tests.servers.namespaces import Namespace

_TICKS = os.sysconf("SC_CLK_TCK")
_CONNECT = connect(f"{ALLOWED}:443")


@dataclass(frozen=True, slots=True)
class Way:
    """One way: directly (`port` 0), or through a proxy with the process `pid`."""

    name: str
    near: Namespace
    host: str = ORIGIN
    port: int = 0
    pid: Callable[[], int] = os.getpid

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
        """A TLS connection to the origin."""
        with self.near.entered():
            reader, writer = await asyncio.open_connection(
                self.host, self.port or 443, local_addr=(SANDBOX, 0) if self.port else None
            )
        if self.port:
            writer.write(_CONNECT)
            assert b" 200 " in (await reader.readuntil(b"\r\n\r\n"))[:16]
        await writer.start_tls(_trusting_anybody(), server_hostname=ALLOWED)
        try:
            yield reader, writer
        finally:
            writer.close()

    def cpu_s(self) -> float:
        """What the proxy has used of a core so far."""
        fields = Path(f"/proc/{self.pid()}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICKS

    def resident_mib(self) -> float:
        """What the proxy has in memory."""
        lines = Path(f"/proc/{self.pid()}/status").read_text().splitlines()
        return int(next(one for one in lines if one.startswith("VmRSS")).split()[1]) / 1024


async def get(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, what: str) -> int:
    """A GET; the body's bytes."""
    writer.write(f"GET /{what} HTTP/1.1\r\nHost: {ALLOWED}\r\n\r\n".encode())
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    assert b" 200 " in head[:16], head
    left = size = int(head.partition(b"content-length: ")[2].partition(b"\r\n")[0])
    while left:
        part = await reader.read(1 << 18)
        assert part
        left -= len(part)
    return size


async def requests(way: Way, *, connections: int, seconds: float) -> tuple[float, float]:
    """Requests a second over kept connections, and the proxy's milliseconds of a core for each."""
    done = 0

    async def one(until: float) -> None:
        nonlocal done
        async with way.opened() as (reader, writer):
            while perf_counter() < until:
                await get(reader, writer, "small")
                done += 1

    began, used = perf_counter(), way.cpu_s()
    async with asyncio.TaskGroup() as group:
        for _ in range(connections):
            group.create_task(one(began + seconds))
    return done / (perf_counter() - began), (way.cpu_s() - used) * 1000 / done


async def new_connections(way: Way, *, number: int) -> list[float]:
    """Milliseconds that a connection and its first request take, one after the other."""
    took = []
    for _ in range(number):
        began = perf_counter()
        async with way.opened() as (reader, writer):
            await get(reader, writer, "small")
        took.append((perf_counter() - began) * 1000)
    return took


async def download(way: Way, mebibytes: int) -> float:
    """MiB a second."""
    async with way.opened() as (reader, writer):
        began = perf_counter()
        await get(reader, writer, str(mebibytes))
        return mebibytes / (perf_counter() - began)


async def first_byte(way: Way) -> float:
    """Milliseconds until the first byte of a body that goes on later."""
    async with way.opened() as (reader, writer):
        began = perf_counter()
        writer.write(f"GET /trickle HTTP/1.1\r\nHost: {ALLOWED}\r\n\r\n".encode())
        await reader.readuntil(b"first")
        took = (perf_counter() - began) * 1000
        await reader.readuntil(b"0\r\n\r\n")
        return took


async def growth(way: Way, mebibytes: int) -> float:
    """MiB that the proxy grows by, at most, while it passes so many on."""
    before = most = way.resident_mib()

    async def watch() -> None:
        nonlocal most
        while True:
            most = max(most, way.resident_mib())
            await asyncio.sleep(0.05)

    async with asyncio.TaskGroup() as group:
        watching = group.create_task(watch())
        await download(way, mebibytes)
        watching.cancel()
    return most - before


def _trusting_anybody() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context
