"""The embedded Polarion as an installation runs it: a process of its own on a port of its own."""

import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
from yarl import URL

from orchestrator.adapters.polarion import Patience, PolarionClient
from tests.servers.pocketbase import free_port

ROOT = Path(__file__).parents[2]
ADMIN_TOKEN = "admin-token-of-the-tests"
QUICK = Patience(timeout_s=10, attempts=3, wait_initial_s=0.01, wait_max_s=0.05)


class PolarionServer:
    """One embedded Polarion; it can be stopped, killed and started again on the same data and port."""

    def __init__(self, home: Path, *, strict: bool = False) -> None:
        self.home = home
        self.port = free_port()
        self.base = f"http://127.0.0.1:{self.port}/polarion/rest/v1"
        self._strict = strict
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it and wait until it says that it serves."""
        token = self.home / "admin-token"
        token.write_text(ADMIN_TOKEN + "\n")
        command = [sys.executable, "-m", "polarion_app.embedded", "--data", str(self.home / "data")]
        command += ["--port", str(self.port), "--admin-token-file", str(token)]
        command += ["--strict"] if self._strict else []
        with (self.home / "log").open("ab") as log:
            self._process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=log)
        assert self._process.stdout
        assert self._process.stdout.readline() == f"serving {self.base}\n".encode(), self.log()

    def stop(self) -> int:
        """End it as the installation does; its exit code."""
        return self._end(signal.SIGTERM)

    def kill(self) -> None:
        """End it without a chance to finish anything."""
        self._end(signal.SIGKILL)

    def log(self) -> str:
        return (self.home / "log").read_text()

    def _end(self, number: int) -> int:
        process, self._process = self._process, None
        if process is None:
            return 0
        process.send_signal(number)
        with process:  # closes the pipe, waits
            return process.wait(timeout=20)


@contextmanager
def polarion_server(home: Path, *, strict: bool = False) -> Iterator[PolarionServer]:
    """A running embedded Polarion with its data below `home`."""
    server = PolarionServer(home, strict=strict)
    server.start()
    try:
        yield server
    finally:
        server.stop()


@asynccontextmanager
async def client_of(base: str, token: str = ADMIN_TOKEN) -> AsyncIterator[PolarionClient]:
    """Our client as the token's user."""
    async with aiohttp.ClientSession() as session:
        yield PolarionClient(
            session,
            base,
            lambda _method, _url: {"Authorization": f"Bearer {token}"},
            patience=QUICK,
        )


@dataclass(frozen=True, slots=True)
class Reply:
    """A whole answer of the server."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    json: Any

    @property
    def error(self) -> Any:
        """The first error of the answer."""
        return self.json["errors"][0]


class Wire:
    """The REST API byte by byte: no client in between that could be kind."""

    def __init__(self, session: aiohttp.ClientSession, base: str, token: str) -> None:
        self._session = session
        self.base = base
        self._token = token

    async def ask(
        self,
        method: str,
        path: str,
        *,
        json: Any = None,
        data: Any = None,
        headers: Mapping[str, str] | None = None,
    ) -> Reply:
        """One request; `path` is sent exactly as it is written."""
        sent = {"Authorization": f"Bearer {self._token}"} if self._token else {}
        async with self._session.request(
            method,
            URL(self.base + path, encoded=True),
            json=json,
            data=data,
            headers={**sent, **(headers or {})},
            allow_redirects=False,
        ) as response:
            body = await response.read()
            is_json = response.content_type == "application/json"
            parsed = await response.json() if is_json else None
            return Reply(response.status, response.headers, body, parsed)


@asynccontextmanager
async def wire_to(base: str, token: str = ADMIN_TOKEN) -> AsyncIterator[Wire]:
    async with aiohttp.ClientSession() as session:
        yield Wire(session, base, token)
