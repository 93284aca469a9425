"""A running execd for tests: the real zipapp as an ordinary process on a loopback port."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
from opensandbox.adapters.command_adapter import CommandsAdapter
from opensandbox.adapters.filesystem_adapter import FilesystemAdapter
from opensandbox.adapters.metrics_adapter import MetricsAdapter
from opensandbox.config import ConnectionConfig
from opensandbox.models.sandboxes import SandboxEndpoint

TOKEN = "a-token-of-the-tests"
HEADERS = {"X-EXECD-ACCESS-TOKEN": TOKEN}
PATIENCE_S = 20.0


def sandbox_python() -> str:
    """The Python that a Debian sandbox would have, else our own."""
    asked = ["-c", "import sys; raise SystemExit(sys.version_info < (3, 11))"]
    system = "/usr/bin/python3"
    if Path(system).exists() and subprocess.run([system, *asked], check=False).returncode == 0:
        return system
    return sys.executable


@dataclass
class Daemon:
    """One execd. `http` sends the token with every request."""

    pid: int
    port: int
    home: Path
    http: aiohttp.ClientSession
    commands: CommandsAdapter
    files: FilesystemAdapter
    metrics: MetricsAdapter

    def children(self) -> set[int]:
        """The pids of its children, zombies included."""
        path = Path(f"/proc/{self.pid}/task/{self.pid}/children")
        return {int(pid) for pid in path.read_text().split()}

    def rss_mib(self) -> float:
        """Its resident memory."""
        status = Path(f"/proc/{self.pid}/status").read_text()
        line = next(line for line in status.splitlines() if line.startswith("VmRSS"))
        return int(line.split()[1]) / 1024

    @asynccontextmanager
    async def raw(self) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
        """A bare connection to it."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        try:
            yield reader, writer
        finally:
            writer.transport.abort()
            with suppress(OSError):
                await writer.wait_closed()

    async def status(self, command: str) -> dict[str, Any]:
        """The status of a command."""
        async with self.http.get(f"/command/status/{command}") as answer:
            assert answer.status == 200
            return dict(await answer.json())

    async def ended(self, command: str) -> dict[str, Any]:
        """The status of a command once it has ended."""
        status: dict[str, Any] = {}

        async def over() -> bool:
            status.update(await self.status(command))
            return not status["running"]

        await until(over)
        return status

    async def background(self, command: str, **more: object) -> str:
        """Start a command in the background; its id."""
        body = {"command": command, "background": True, **more}
        async with self.http.post("/command", json=body) as answer:
            assert answer.status == 200, await answer.text()
            return str((await answer.text()).partition('"text": "')[2][:32])


async def until(condition: Any, patience_s: float = PATIENCE_S) -> None:
    """Wait until the async `condition` holds."""
    async with asyncio.timeout(patience_s):
        while not await condition():  # noqa: ASYNC110  # another process's state can only be asked for
            await asyncio.sleep(0.02)


async def gone(pid: int) -> None:
    """Wait until a process is no more, or only a zombie."""

    async def over() -> bool:
        try:
            return ") Z " in Path(f"/proc/{pid}/stat").read_text()
        except OSError:
            return True

    await until(over)


@asynccontextmanager
async def sdk_config() -> AsyncIterator[ConnectionConfig]:
    """The SDK's configuration, its connections closed in the end."""
    config = ConnectionConfig(headers=HEADERS, disable_metrics=True).with_transport_if_missing()
    try:
        yield config
    finally:
        await config.close_transport_if_owned()


@contextmanager
def started(
    pyz: Path,
    home: Path,
    *,
    prefix: Sequence[str] = (),
    arguments: Sequence[str] = ("--init",),
    env: dict[str, str] | None = None,
    python: str = "",
) -> Iterator[tuple[int, int]]:
    """Run execd with a clean environment until the block is left; its pid and port."""
    process = subprocess.Popen(
        [
            *prefix,
            *(python or sandbox_python(), "-IS", str(pyz), "--host", "127.0.0.1", "--port", "0"),
            *arguments,
        ],
        env={
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "HOME": str(home),
            "EXECD_ACCESS_TOKEN": TOKEN,
            **(env or {}),
        },
        cwd="/",
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        yield process.pid, int(process.stdout.readline().split()[-1])
    finally:
        process.kill()
        process.communicate()


@asynccontextmanager
async def connected(pid: int, port: int, home: Path) -> AsyncIterator[Daemon]:
    """Connections of a test's own to a running execd."""
    endpoint = SandboxEndpoint(endpoint=f"127.0.0.1:{port}")
    async with (
        sdk_config() as config,
        aiohttp.ClientSession(f"http://127.0.0.1:{port}", headers=HEADERS) as http,
    ):
        yield Daemon(
            pid=pid,
            port=port,
            home=home,
            http=http,
            commands=CommandsAdapter(config, endpoint),
            files=FilesystemAdapter(config, endpoint),
            metrics=MetricsAdapter(config, endpoint),
        )


@asynccontextmanager
async def running(pyz: Path, home: Path, **how: Any) -> AsyncIterator[Daemon]:
    """An execd of a test's own, started as `started` is told."""
    with started(pyz, home, **how) as (pid, port):
        async with connected(pid, port, home) as daemon:
            yield daemon
