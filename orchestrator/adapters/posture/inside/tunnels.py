"""Requests through the egress proxy, straight ones and inside a tunnel; what came of each in a word.

`refused`: it said no, in whichever way. `unreachable`: it would have let it through, and found nobody.
"""

import re
import socket
import ssl
from collections.abc import Callable

from orchestrator.adapters.posture.inside import requests

REFUSED = "refused"
NOBODY = (b"can't be resolved", b"leads to where nothing is sent")
"""What the proxy says of an allowed name that leads nowhere that it may dial."""
BAD_GATEWAYS = (502, 504)
OPENED = re.compile(rb"HTTP/1\.[01] 2")
TUNNEL_S = 5.0
SILENT_S = 1.0
Found = tuple[str, str]
"""A word, and what it rests on."""


def word_for(answer: bytes, *, ended: bool) -> str:
    """What an answer means."""
    statuses = [int(one) for one in requests.STATUS_LINE.findall(answer)]
    if any(text in answer for text in NOBODY) or set(statuses) & set(BAD_GATEWAYS):
        return "unreachable"
    if not statuses:
        return REFUSED if ended else "silent"
    if all(400 <= status < 500 or status in {501, 503, 505} for status in statuses):  # noqa: PLR2004
        return REFUSED
    return "answered " + "+".join(map(str, statuses))


def through(host: str, port: int, *payloads: str) -> Found:
    """Send each on a connection of its own: one word if the same came of all, else all of them."""
    found = []
    for payload in payloads:
        try:
            answer, ended = requests.exchange(host, port, payload.encode("latin-1"))
            found.append(word_for(answer, ended=ended))
        except OSError as error:
            found.append(f"closed {type(error).__name__}")
    lines = [payload.splitlines()[0][:60] for payload in payloads]
    told = "; ".join(f"{line}: {word}" for line, word in zip(lines, found, strict=True))
    return " ".join(sorted(set(found))), told


def tunnel(host: str, port: int, connect: str, name: str, payload: str) -> Found:
    """Open a tunnel, speak TLS in it with this server name (none, if empty), and send the payload.

    The certificate isn't looked at: whoever answers is not who is asked for, in most of these.
    """
    return _in_tunnel(host, port, connect, lambda plain: _said(_secret(plain, name), payload))


def plain_tunnel(host: str, port: int, connect: str, payload: str) -> Found:
    """Open a tunnel, and send bytes in it that are no TLS."""
    return _in_tunnel(host, port, connect, lambda plain: _said(plain, payload))


def protocol(host: str, port: int, connect: str, name: str) -> Found:
    """Open a tunnel, offer HTTP/2 and HTTP/1.1 in TLS, and say which was chosen; `none` for neither."""
    return _in_tunnel(host, port, connect, lambda plain: _chosen(plain, name))


def _in_tunnel(
    host: str, port: int, connect: str, inside: Callable[[socket.socket], Found]
) -> Found:
    """Open a tunnel, and what comes of `inside`; or of the opening, when that is refused."""
    try:
        with socket.create_connection((host, port), timeout=TUNNEL_S) as plain:
            plain.sendall(connect.encode("latin-1"))
            opened = _head(plain)
            if not OPENED.match(opened):
                return word_for(opened, ended=True), f"CONNECT: {opened[:120].decode('latin-1')}"
            return inside(plain)
    except TimeoutError:
        return "silent", f"no answer within {TUNNEL_S:.0f} s"
    except OSError as error:
        return REFUSED, f"{type(error).__name__}: {error}"


def _said(inner: socket.socket, payload: str) -> Found:
    with inner:
        inner.sendall(payload.encode("latin-1"))
        answer, ended = _read(inner)
    return word_for(answer, ended=ended), answer[:160].decode("latin-1")


def _chosen(plain: socket.socket, name: str) -> Found:
    with _secret(plain, name, "h2", "http/1.1") as inner:
        return inner.selected_alpn_protocol() or "none", ""


def _secret(plain: socket.socket, name: str, *protocols: str) -> ssl.SSLSocket:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    if protocols:
        context.set_alpn_protocols(list(protocols))
    return context.wrap_socket(plain, server_hostname=name or None)


def _read(inner: socket.socket) -> tuple[bytes, bool]:
    answer = b""
    inner.settimeout(SILENT_S)
    try:
        while len(answer) < requests.MOST_BYTES:
            piece = inner.recv(65536)
            if not piece:
                return answer, True
            answer += piece
            inner.settimeout(requests.MORE_S)
    except TimeoutError:
        return answer, False
    except OSError:
        return answer, True
    return answer, False


def _head(plain: socket.socket) -> bytes:
    head = b""
    while b"\r\n\r\n" not in head and len(head) < requests.MOST_BYTES:
        piece = plain.recv(1)  # no byte of what comes after it
        if not piece:
            break
        head += piece
    return head
