"""Wires the parts and serves: the one place that knows them all."""

import asyncio
import os
import socket
from collections.abc import Sequence
from pathlib import Path

from execd.children import Children
from execd.commands import Commands
from execd.file_api import FileApi, started_threads
from execd.hardening import OomScore, adopt_orphans
from execd.metrics import Metrics
from execd.routes import Routes
from execd.run_api import RunApi
from execd.segment import Segment
from execd.server import ConnectionLimits, Server


def log_folder() -> Path | None:
    """Return the first place that has files without a name; None: logs are kept in memory."""
    for folder in (os.environ.get("EXECD_LOG_DIR"), os.environ.get("HOME"), "/tmp"):  # noqa: S108  # no name is made there
        if folder and not Segment(Path(folder), 0).in_memory:
            return Path(folder)
    return None


async def serve(
    listening: socket.socket, token: str, oom: OomScore, *, init: bool, entrypoint: Sequence[str]
) -> None:
    """Serve on `listening` until the end of the sandbox; with `init`, do PID 1's duties too."""
    children = Children(oom)
    children.watch(asyncio.get_running_loop())
    commands = Commands(children, os.environ, log_folder())
    table = [
        *RunApi(commands, children).routes(),
        *FileApi(started_threads(), Metrics()).routes(),
    ]
    port = int(listening.getsockname()[1])
    server = Server(token, Routes(table, port).handle, ConnectionLimits())
    if init:
        adopt_orphans()
        if entrypoint:
            children.start_entrypoint(entrypoint)
    print(f"execd: serving on port {port}", flush=True)
    await server.serve(listening)
