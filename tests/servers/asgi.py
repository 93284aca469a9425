"""An ASGI application, served on loopback in a thread of its own."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn


@contextmanager
def served(app: Any, path: str = "/mcp", listening: socket.socket | None = None) -> Iterator[str]:
    """Serve it until the block ends; its URL, with `path`. `listening`: where, if that is decided."""
    config = uvicorn.Config(app, host="127.0.0.1", port=0, log_level="error", ws="none")
    running = uvicorn.Server(config)
    thread = threading.Thread(target=running.run, args=([listening] if listening else None,))
    thread.start()
    deadline = time.monotonic() + 30
    while not running.started and time.monotonic() < deadline:
        time.sleep(0.02)
    try:
        yield f"http://127.0.0.1:{running.servers[0].sockets[0].getsockname()[1]}{path}"
    finally:
        running.should_exit = running.force_exit = True
        thread.join(20)
