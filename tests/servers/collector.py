"""Collectors of syslog and HTTP that keep what they get, each in a thread of its own."""

import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from tests.servers.posts import Post, taking_posts

LOCALHOST = "127.0.0.1"


@dataclass
class Collector:
    """Where it listens, and the messages that it has got."""

    port: int
    got: list[bytes] = field(default_factory=list)
    connections: int = 0
    trouble: list[str] = field(default_factory=list)
    close_after: int = 0
    """A connection is closed after so many messages; 0: never."""
    closed: int = 0
    """So many connections were closed so."""


@contextmanager
def udp() -> Iterator[Collector]:
    """A collector of datagrams."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind((LOCALHOST, 0))
        collector = Collector(server.getsockname()[1])

        def serve() -> None:
            while raw := server.recv(1 << 16):
                collector.got.append(raw)

        with _beside(serve, server):
            yield collector


@contextmanager
def tcp(context: ssl.SSLContext | None = None, *, close_after: int = 0) -> Iterator[Collector]:
    """A collector of octet-counted messages over TCP, or over TLS."""
    with socket.create_server((LOCALHOST, 0)) as server:
        collector = Collector(server.getsockname()[1], close_after=close_after)
        readers: list[threading.Thread] = []

        def serve() -> None:
            while True:
                connection, _ = server.accept()
                collector.connections += 1
                reading = (connection, context, collector)
                readers.append(threading.Thread(target=_read, args=reading, daemon=True))
                readers[-1].start()

        with _beside(serve, server):
            yield collector
        for reader in readers:
            reader.join(5)


def _read(plain: socket.socket, context: ssl.SSLContext | None, collector: Collector) -> None:
    try:
        connection = context.wrap_socket(plain, server_side=True) if context else plain
        with connection, connection.makefile("rb") as stream:
            taken = 0
            while length := _until_space(stream.read):
                collector.got.append(stream.read(int(length)))
                taken += 1
                if taken == collector.close_after:
                    break
        collector.closed += 1
    except OSError as error:
        collector.trouble.append(str(error))


def _until_space(read: Callable[[int], bytes]) -> bytes:
    digits = b""
    while (one := read(1)) and one != b" ":
        digits += one
    return digits


@contextmanager
def _beside(serve: Callable[[], None], server: socket.socket) -> Iterator[None]:
    def run() -> None:
        with suppress(OSError):
            serve()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        yield
    finally:
        with suppress(OSError):
            server.shutdown(socket.SHUT_RDWR)
        server.close()
        thread.join(5)


@dataclass
class HttpCollector:
    """Where it listens, what it got, and what it answers: statuses in turn, then 204."""

    port: int
    got: list[Post] = field(default_factory=list)
    answers: list[int] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://{LOCALHOST}:{self.port}/in"


@contextmanager
def http() -> Iterator[HttpCollector]:
    """A collector of POSTs; those that it refuses are not among those that it got."""

    def take(post: Post) -> int:
        status = collector.answers.pop(0) if collector.answers else 204
        if status < 300:
            collector.got.append(post)
        return status

    with taking_posts(take) as port:
        collector = HttpCollector(port)
        yield collector
