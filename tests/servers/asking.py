"""A client that sends exactly the bytes it is told, through the proxy or in a tunnel of it."""

import asyncio
import socket
import ssl
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache

from tests.servers.egress import ALLOWED, SANDBOX, Egress, credentials

PATIENCE_S = 5.0
ASKERS = 32


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back: 0 as status when nothing did, or no HTTP."""

    status: int
    head: str
    body: bytes
    whole: bool
    """Whether the other end closed in order (TLS: with its closing alert)."""
    alpn: str | None = None


def line(
    method: str, target: str, *headers: str, host: str = "", version: str = "HTTP/1.1"
) -> bytes:
    """A request's head."""
    hosts = [f"Host: {host}"] if host else []
    return "\r\n".join([f"{method} {target} {version}", *hosts, *headers, "", ""]).encode("latin-1")


def plain(
    url: str, *headers: str, host: str = ALLOWED, method: str = "GET", token: str = ""
) -> bytes:
    """A request in absolute form, with credentials."""
    shown = credentials(token) if token else credentials()
    return line(method, url, f"Proxy-Authorization: {shown}", *headers, host=host)


def connect(place: str, *headers: str) -> bytes:
    """A request for a tunnel, with credentials."""
    return line("CONNECT", place, f"Proxy-Authorization: {credentials()}", *headers, host=place)


async def ask(
    world: Egress,
    first: bytes,
    inner: bytes = b"",
    *,
    sni: str | None = None,
    tls: bool = True,
    alpn: tuple[str, ...] = (),
    source: str = SANDBOX,
    hang_up: bool = False,
    enough: bytes = b"",
    more: bytes = b"",
) -> Answer:
    """Send `first`; and `inner` in the tunnel, if that was opened. Without `sni` none is sent.

    `more` is sent in it when a head has come back. Reads until a whole answer is there, or what ends
    with `enough`.
    """

    def talk() -> Answer:
        with world.socket(source) as sock:
            sock.settimeout(PATIENCE_S)
            sock.sendall(first)
            if not inner:
                return _answer(sock, enough, hang_up=hang_up)
            opened = _head(sock)
            if b" 200 " not in opened[:16]:
                return _parsed(opened + _rest(sock)[0], whole=True)
            if not tls:
                sock.sendall(inner)
                return _answer(sock, enough, hang_up=hang_up)
            with _trusting_anybody(alpn).wrap_socket(sock, server_hostname=sni) as opened_tls:
                opened_tls.sendall(inner)
                if more:
                    _head(opened_tls)
                    opened_tls.sendall(more)
                return _answer(opened_tls, enough, alpn=opened_tls.selected_alpn_protocol())

    return await asyncio.get_running_loop().run_in_executor(_askers(), talk)


@cache
def _askers() -> ThreadPoolExecutor:
    """Threads of their own: those who wait here keep nobody else from working."""
    return ThreadPoolExecutor(ASKERS, thread_name_prefix="asker")


def _trusting_anybody(alpn: tuple[str, ...]) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    if alpn:
        context.set_alpn_protocols(list(alpn))
    return context


def _answer(
    sock: socket.socket, enough: bytes, *, hang_up: bool = False, alpn: str | None = None
) -> Answer:
    if hang_up:
        sock.shutdown(socket.SHUT_WR)
    data, whole = _rest(sock, enough)
    return _parsed(data, whole=whole, alpn=alpn)


def _head(sock: socket.socket) -> bytes:
    data = b""
    while not data.endswith(b"\r\n\r\n"):
        part = sock.recv(1)
        if not part:
            break
        data += part
    return data


def _rest(sock: socket.socket, enough: bytes = b"") -> tuple[bytes, bool]:
    """What comes until the end, or until a whole answer is there."""
    data = b""
    try:
        while not (_complete(data) or (enough and data.endswith(enough))):
            part = sock.recv(65536)
            if not part:
                return data, True
            data += part
    except OSError:
        return data, False
    return data, True


def _complete(data: bytes) -> bool:
    head, found, body = data.partition(b"\r\n\r\n")
    if not found:
        return False
    for one in head.lower().split(b"\r\n"):
        name, _, value = one.partition(b":")
        if name == b"content-length":
            return len(body) >= int(value)
        if name == b"transfer-encoding":
            return body.endswith(b"0\r\n\r\n")
    return False


def _parsed(data: bytes, *, whole: bool, alpn: str | None = None) -> Answer:
    head, _, body = data.partition(b"\r\n\r\n")
    words = head.split(b" ", 2)
    status = int(words[1]) if head.startswith(b"HTTP/") and len(words) > 1 else 0
    return Answer(status, head.decode("latin-1"), body, whole, alpn)
