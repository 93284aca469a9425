"""A proxy that lets everything through: it says yes to whatever is asked, and speaks HTTP/2 if it may."""

import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

YES = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
SILENCE_S = 0.3


@contextmanager
def loose_proxy(certificate: Path, key: Path) -> Iterator[int]:
    """Serve on loopback; its port."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    context.set_alpn_protocols(["h2", "http/1.1"])
    with socket.create_server(("127.0.0.1", 0), backlog=64) as server:
        threading.Thread(target=_accept, args=(server, context), daemon=True).start()
        yield server.getsockname()[1]
        server.shutdown(socket.SHUT_RDWR)


def _accept(server: socket.socket, context: ssl.SSLContext) -> None:
    while True:
        try:
            one, _ = server.accept()
        except OSError:
            return
        threading.Thread(target=_serve, args=(one, context), daemon=True).start()


def _serve(one: socket.socket, context: ssl.SSLContext) -> None:
    with one, suppress(OSError):
        one.settimeout(SILENCE_S)
        asked = one.recv(1 << 16)
        one.sendall(YES)
        if not asked.startswith(b"CONNECT"):
            return
        begins = one.recv(1, socket.MSG_PEEK)
        if begins == b"\x16":
            with context.wrap_socket(one, server_side=True) as inner:
                inner.recv(1 << 16)
                inner.sendall(YES)
        else:
            one.recv(1 << 16)
            one.sendall(YES)
