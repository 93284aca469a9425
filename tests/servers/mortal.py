"""An MCP server, made with the SDK, that dies in the middle of a call and comes back.

Its socket is its parent's, which forks another as soon as one has died: whoever connects in between waits
in the socket's queue. `python -m tests.servers.mortal FOLDER NAME...` serves one for each name, says
their ports as JSON, and writes which tools were called to FOLDER/NAME, a line each.
"""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import uvicorn
from mcp.server.mcpserver import MCPServer


@dataclass(frozen=True, slots=True)
class Mortal:
    """One of them."""

    url: str
    calls: Path

    @property
    def called(self) -> list[str]:
        """The tools that were called, oldest first."""
        return self.calls.read_text().split() if self.calls.exists() else []


@contextmanager
def mortals(folder: Path, names: Sequence[str]) -> Iterator[dict[str, Mortal]]:
    """Servers by name, in processes of their own, until the block ends."""
    command = [sys.executable, "-m", __name__, str(folder), *names]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as parent:
        try:
            assert parent.stdout is not None
            ports: list[int] = json.loads(parent.stdout.readline())
            yield {
                name: Mortal(f"http://127.0.0.1:{port}/mcp", folder / name)
                for name, port in zip(names, ports, strict=True)
            }
        finally:
            parent.terminate()


def _parent(folder: Path, names: Sequence[str]) -> None:
    sockets = {name: socket.create_server(("127.0.0.1", 0)) for name in names}
    children = {_child(folder / name, sock): name for name, sock in sockets.items()}
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    sys.stdout.write(f"{json.dumps([sock.getsockname()[1] for sock in sockets.values()])}\n")
    sys.stdout.flush()
    try:
        while True:
            pid, _ = os.wait()
            name = children.pop(pid)
            children[_child(folder / name, sockets[name])] = name
    finally:
        for pid in children:
            os.kill(pid, signal.SIGKILL)


def _child(calls: Path, sock: socket.socket) -> int:
    """The pid of a process that serves at the socket."""
    if pid := os.fork():
        return pid
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    app = _server(calls).streamable_http_app(streamable_http_path="/mcp")
    config = uvicorn.Config(app, log_level="error", ws="none")
    asyncio.run(uvicorn.Server(config).serve(sockets=[sock]))
    os._exit(0)


def _server(calls: Path) -> MCPServer:
    server = MCPServer("mortal", log_level="ERROR")

    def note(tool: str) -> None:
        with calls.open("a") as file:
            file.write(f"{tool}\n")

    @server.tool()
    def pulse() -> str:
        """Say that you live."""
        note("pulse")
        return f"alive as {os.getpid()}"

    @server.tool()
    def die() -> str:
        """Do it, and die before you have said so."""
        note("die")
        os._exit(1)

    return server


if __name__ == "__main__":
    _parent(Path(sys.argv[1]), sys.argv[2:])
