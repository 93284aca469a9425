"""A server of POSTs on loopback, in a thread of its own."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BufferedIOBase


@dataclass(frozen=True)
class Post:
    """A request that was got."""

    headers: dict[str, str]
    body: bytes


@dataclass
class Said:
    """The body of every answer, and how many of them were not taken to their end."""

    size_bytes: int = 0
    broken_off: int = 0

    def write(self, out: BufferedIOBase) -> None:
        try:
            out.writelines(_PIECE for _ in range(0, self.size_bytes, len(_PIECE)))
        except OSError:
            self.broken_off += 1


_PIECE = b"x" * (1 << 16)


@contextmanager
def taking_posts(take: Callable[[Post], int], said: Said | None = None) -> Iterator[int]:
    """Answer each with the status that `take` says, until the block ends; the port."""
    body_of_answer = said or Said()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(take(Post(dict(self.headers), body)))
            self.send_header("Retry-After", "0")
            self.send_header("Content-Length", str(body_of_answer.size_bytes))
            self.end_headers()
            body_of_answer.write(self.wfile)

        def log_message(self, *_: object) -> None:
            """It is read by the test, not by people."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()
            thread.join(5)
