"""The real PocketBase, started as an installation starts it."""

import os
import signal
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import aiohttp

from orchestrator.adapters.pocketbase import SUPERUSER
from orchestrator.adapters.pocketbase.client import PocketBase
from orchestrator.stack import pocketbase
from orchestrator.stack.steps import Step


class PocketBaseServer:
    """One PocketBase; it can be stopped, killed and started again on the same data and port."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"

    def start(self) -> int:
        """Start it, wait until it answers; its pid."""
        service = pocketbase.service(self.home, self.port)
        service.ensure(Step("PocketBase", lambda _: None))
        pid = service.program.pid()
        assert pid is not None
        return pid

    def stop(self) -> None:
        pocketbase.program(self.home, self.port).stop()

    def kill(self) -> None:
        """End it without a chance to finish anything."""
        pid = pocketbase.program(self.home, self.port).pid()
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)

    @asynccontextmanager
    async def client(self, *, timeout_s: float = 10) -> AsyncIterator[PocketBase]:
        """A client with the installation's password."""
        async with aiohttp.ClientSession() as http:
            yield PocketBase(
                http,
                url=self.url,
                user=SUPERUSER,
                password=pocketbase.password(self.home),
                timeout_s=timeout_s,
            )


@contextmanager
def pocketbase_server(home: Path) -> Iterator[PocketBaseServer]:
    """A running PocketBase with its home at `home`."""
    server = PocketBaseServer(home)
    server.start()
    try:
        yield server
    finally:
        server.stop()


def free_port() -> int:
    """A loopback port that is free now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
