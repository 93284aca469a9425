"""Collectors of syslog and HTTP that keep what they get, each in a thread of its own."""

import datetime as dt
import ipaddress
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

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
class Post:
    """A request that was got."""

    headers: dict[str, str]
    body: bytes


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

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            status = collector.answers.pop(0) if collector.answers else 204
            if status < 300:
                collector.got.append(Post(dict(self.headers), body))
            self.send_response(status)
            self.send_header("Retry-After", "0")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer((LOCALHOST, 0), Handler) as server:
        collector = HttpCollector(server.server_address[1])
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield collector
        finally:
            server.shutdown()
            thread.join(5)


@dataclass(frozen=True)
class Certificate:
    """A certificate for 127.0.0.1 that vouches for itself."""

    certificate: Path
    with_key: Path

    @property
    def context(self) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.with_key)
        return context


def certificate(folder: Path) -> Certificate:
    """Make one in a folder."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "collector of the tests")])
    now = dt.datetime.now(dt.UTC)  # noqa: TID251 - a certificate must be valid in the real time
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(minutes=5))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address(LOCALHOST))]),
            critical=False,
        )
        .sign(key, hashes.SHA256())
    )
    pem = made.public_bytes(serialization.Encoding.PEM)
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    (folder / "cert.pem").write_bytes(pem)
    (folder / "both.pem").write_bytes(pem + private)
    return Certificate(folder / "cert.pem", folder / "both.pem")
