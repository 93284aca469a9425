"""The bridge to an MCP server over stdio, as a process of this machine: for tests alone."""

import asyncio
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from entrance.errors import NotFound, Unavailable
from entrance.ports import McpServer, Place
from entrance.session import Session, hash_token
from orchestrator.domain.stdio_server import told

SECRET = "what-opens-the-way-in"
RUN = Path(__file__).parents[2] / "images" / "stdio" / "run"


@asynccontextmanager
async def bridge_running(log: Path, *command: str) -> AsyncIterator[str]:
    """The URL of one. `log`: the file for what it says on stderr."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with log.open("wb") as stderr:
        process = await asyncio.create_subprocess_exec(
            sys.executable, str(RUN), str(port), *command, stdout=-1, stderr=stderr
        )
    try:
        assert process.stdout is not None
        assert await process.stdout.readline() == b"ready\n"
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.kill()
        await process.wait()


@dataclass
class Bridges:
    """Implements `entrance.ports.ServerSandboxes`: a bridge a run, without a sandbox around it.

    `backend_url`: where the door has the backends of servers.
    """

    folder: Path
    stack: AsyncExitStack
    backend_url: str = ""
    trouble: str = ""
    doubted: int = 0
    ended: int = 0
    urls: dict[str, str] = field(default_factory=dict)
    own: dict[str, Session] = field(default_factory=dict)
    """The servers' own sessions, by the hash of their token."""

    async def reach(self, session: Session, server: McpServer, *, start: bool) -> Place:
        if self.trouble:
            raise Unavailable(self.trouble)
        passport = f"the-passport-of-{session.run}"
        if session.run not in self.urls:
            if not start:
                raise NotFound("it does not run")
            self.urls[session.run] = await self._started(session, server, passport)
        return Place(self.urls[session.run], {"token": SECRET}, hidden=(passport,))

    def doubt(self, session: Session, server: McpServer) -> None:
        self.doubted += 1

    async def end(self, session: Session, server: McpServer) -> None:
        self.ended += 1

    def find(self, token_sha256: str) -> Session | None:
        return self.own.get(token_sha256)

    async def _started(self, session: Session, server: McpServer, passport: str) -> str:
        assert server.stdio is not None
        shown = hash_token(passport)
        own = Session(
            session.run, session.task, session.project, session.agent, session.address, shown
        )
        self.own[shown] = replace(own, server=server.name, backend=server.stdio.backend)
        env = told(server.stdio.env, self.backend_url, passport)
        given = ("env", *(f"{name}={value}" for name, value in env.items()))
        log = self.folder / f"{session.run}.log"
        return await self.stack.enter_async_context(
            bridge_running(log, *given, *server.stdio.command)
        )
