"""Syslog over UDP (RFC 5426), TCP (RFC 6587) and TLS (RFC 5425).

Syslog acknowledges nothing. Over TCP a batch counts as handed over once the other side's kernel has
acknowledged all of it, and the connection was not reset; over UDP once it was sent.
"""

import fcntl
import socket
import ssl
import struct
import termios
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from entrance.errors import Malformed, Unavailable
from orchestrator.egress.sending.messages import Message
from orchestrator.egress.sending.syslog import datagram, framed, syslog

TIMEOUT_S = 10.0
LOOK_S = 0.005
PORTS = {"udp": 514, "tcp": 601, "tls": 6514}
"""As IANA has them."""


@dataclass(frozen=True, slots=True)
class Collector:
    """A syslog collector: `udp`, `tcp` or `tls`, a host and a port; for TLS what it is trusted by."""

    scheme: str
    host: str
    port: int
    ca: Path | None = None
    """A file of certificates; None: those that this machine trusts."""
    certificate: Path | None = None
    """Our own certificate with its key, as PEM."""

    @classmethod
    def at(
        cls, url: str, *, ca: Path | None = None, certificate: Path | None = None
    ) -> "Collector":
        """`udp://host[:port]`, `tcp://...`, `tls://...`. Raises: ValueError."""
        parts = urlsplit(url)
        if parts.scheme not in PORTS or not parts.hostname or parts.path or parts.username:
            raise ValueError("write udp://HOST[:PORT], tcp://HOST[:PORT] or tls://HOST[:PORT]")
        return cls(parts.scheme, parts.hostname, parts.port or PORTS[parts.scheme], ca, certificate)

    def __str__(self) -> str:
        """Its URL."""
        return f"{self.scheme}://{self.host}:{self.port}"


class SyslogTarget:
    """Messages to a collector. A connection that broke is made anew with the next batch."""

    def __init__(self, collector: Collector, host: str) -> None:
        self._collector = collector
        self._host = host
        self._socket: socket.socket | None = None

    def begin(self, mark: str) -> str:
        """Nothing is to be done."""
        return mark

    def send(self, batch: Sequence[Message], name: str) -> str:  # noqa: ARG002 - it can't be told
        raw = [syslog(one, self._host) for one in batch]
        try:
            connection = self._open()
            if self._collector.scheme == "udp":
                for one in raw:
                    connection.send(datagram(one))
            else:
                self._stream(connection, b"".join(framed(one) for one in raw))
        except (OSError, ValueError) as error:
            self.close()
            raise Unavailable(f"{self._collector} did not take it: {error}") from error
        return ""

    def close(self) -> None:
        connection, self._socket = self._socket, None
        if connection is not None:
            with suppress(OSError):
                connection.close()

    def _stream(self, connection: socket.socket, raw: bytes) -> None:
        connection.sendall(raw)
        until = time.monotonic() + TIMEOUT_S
        while _unacknowledged(connection):
            if time.monotonic() > until:
                raise TimeoutError("it does not acknowledge what is sent")
            time.sleep(LOOK_S)
        # Whoever closes without having read all resets the connection, which raises here.
        if _closed(connection):
            self.close()

    def _open(self) -> socket.socket:
        """The connection; a new one when there is none, or the collector has closed it meanwhile."""
        if self._socket and self._collector.scheme != "udp" and _lost(self._socket):
            self.close()
        self._socket = self._socket or self._connected()
        return self._socket

    def _connected(self) -> socket.socket:
        at = self._collector
        if at.scheme == "udp":
            family, kind, *_, address = socket.getaddrinfo(
                at.host, at.port, type=socket.SOCK_DGRAM
            )[0]
            datagrams = socket.socket(family, kind)
            datagrams.connect(address)
            return datagrams
        plain = socket.create_connection((at.host, at.port), timeout=TIMEOUT_S)
        if at.scheme == "tcp":
            return plain
        try:
            return trusting(at.ca, at.certificate).wrap_socket(plain, server_hostname=at.host)
        except BaseException:
            plain.close()
            raise


def trusting(ca: Path | None, certificate: Path | None = None) -> ssl.SSLContext:
    """What TLS trusts: those in a file, or whom this machine trusts. Raises: Malformed."""
    try:
        context = ssl.create_default_context(cafile=str(ca) if ca else None)
        if certificate:
            context.load_cert_chain(certificate)
    except OSError as error:
        raise Malformed(
            f"the certificates in {certificate or ca} can't be used: {error}"
        ) from error
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    return context


def _unacknowledged(connection: socket.socket) -> int:
    """So many bytes wait in our kernel for the other side's acknowledgement (Linux, tcp(7))."""
    answer = fcntl.ioctl(connection.fileno(), termios.TIOCOUTQ, b"\0" * 4)
    count: int = struct.unpack("i", answer)[0]
    return count


def _closed(connection: socket.socket) -> bool:
    """Whether the other side has closed: collectors say nothing else. Raises: OSError when it was reset."""
    connection.settimeout(0)
    try:
        return not connection.recv(1)
    except (BlockingIOError, ssl.SSLWantReadError):
        return False
    finally:
        connection.settimeout(TIMEOUT_S)


def _lost(connection: socket.socket) -> bool:
    try:
        return _closed(connection)
    except OSError:
        return True
