"""A webhook in a thread: it takes every POST, and remembers what it was told."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True, slots=True)
class Alerts:
    """Where it is, and what it was told."""

    url: str
    told: list[dict[str, Any]] = field(default_factory=list)


@contextmanager
def alerts_server() -> Iterator[Alerts]:
    """Serves until the block ends."""
    told: list[dict[str, Any]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            told.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """It is read by the test, not by people."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield Alerts(f"http://127.0.0.1:{server.server_port}/alerts", told)
        finally:
            server.shutdown()
            thread.join()
