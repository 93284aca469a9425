"""Runs the proxy: mitmproxy's core without its program, HTTP/1.1 on both sides, one listener.

mitmproxy's own `Master` and addons are left out: its certificates are RSA, its hooks pass through
every addon, and its options are global.
"""

import asyncio
import resource
import signal
from collections import Counter
from collections.abc import Coroutine
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import structlog

from proxy.applied import Applied
from proxy.authority import Authority
from proxy.connection import Connection
from proxy.dial import PinnedLoop, Resolver
from proxy.door import Door
from proxy.recorder import Recorder
from proxy.tls import Leaves, Upstream
from proxy.usage import Usage

LOOK_S = 0.1
"""How often the policy file is looked at."""
SAVE_EVERY = 20
MAX_CONNECTIONS = 256
"""Of one address at a time."""
GONE_S = 2.0
"""So long connections that were cut may take to tell how they ended."""
FLUSH_S = 5.0
BACKLOG = 512
_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """What the proxy is told at its start."""

    host: str
    port: int
    policy: Path
    recorder: Path
    state: Path
    """A folder of its own: status and usage."""
    key: Path
    certificate: Path
    upstream: Path
    """The bundle that servers are verified against."""

    @property
    def status(self) -> Path:
        return self.state / "status.json"


class Engine:
    """The listener, its connections, and what is looked after meanwhile."""

    def __init__(self, config: Config, door: Door) -> None:
        self._config = config
        self._door = door
        self._by_address: Counter[str] = Counter()
        self._serving: set[asyncio.Task[None]] = set()

    async def serve(self, ending: asyncio.Event) -> None:
        """Serve until `ending` is set. Raises: OSError when the address can't be listened on."""
        server = await asyncio.start_server(
            self._connected, self._config.host, self._config.port, backlog=BACKLOG
        )
        async with server, asyncio.TaskGroup() as group:
            recording = group.create_task(self._door.recorder.run())
            looking = group.create_task(self._look_after())
            _log.info("proxy_listening", host=self._config.host, port=self._config.port)
            await ending.wait()
            server.close()
            await self._cut_all()
            await self._door.recorder.flush(timeout_s=FLUSH_S)
            self._door.usage.save()
            looking.cancel()
            recording.cancel()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        address = str(writer.get_extra_info("peername")[0])
        if self._by_address[address] >= MAX_CONNECTIONS:
            writer.transport.abort()
            return
        connection = Connection(reader, writer, self._door)
        self._door.connections.add(connection)
        self._by_address[address] += 1
        serving = cast("asyncio.Task[None]", asyncio.current_task())
        self._serving.add(serving)
        try:
            await connection.handle_client()
        finally:
            self._serving.discard(serving)
            connection.release()
            self._door.connections.discard(connection)
            self._by_address[address] -= 1
            if not self._by_address[address]:
                del self._by_address[address]

    async def _cut_all(self) -> None:
        """End what goes on, and wait until it has told how it ended: a tunnel tells of itself then."""
        for connection in list(self._door.connections):
            connection.cut()
        if self._serving:
            await asyncio.wait(self._serving, timeout=GONE_S)

    async def _look_after(self) -> None:
        applied, usage, recorder = self._door.applied, self._door.usage, self._door.recorder
        looks, shown = 0, None
        while True:
            if applied.refresh():
                _log.info("policy_applied", generation=applied.generation, trouble=applied.trouble)
                self._cut_removed()
                usage.forget_all_but(one.run for one in applied.sandboxes.values())
            looks += 1
            if looks % SAVE_EVERY == 0:
                shown = None  # what changes all the time is shown now and then
            if shown != (shown := (applied.generation, applied.trouble, recorder.connected)):
                self._keep()
            await asyncio.sleep(LOOK_S)

    def _keep(self) -> None:
        """A full disk is no reason to die: the log closes this door, and says why."""
        try:
            self._door.usage.save()
            self._door.applied.show(self._door.status())
        except OSError as error:
            _log.error("state_not_kept", error=str(error))

    def _cut_removed(self) -> None:
        """A sandbox that is gone, or another at its address, keeps no connection."""
        for connection in list(self._door.connections):
            sandbox = connection.caller.sandbox
            now = self._door.applied.sandboxes.get(connection.caller.address)
            if now is None or (sandbox is not None and sandbox.token_sha256 != now.token_sha256):
                connection.cut()


def run(config: Config) -> None:
    """Run it until SIGTERM or SIGINT. Raises: OSError or ValueError when it can't start."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a dump would hold the authority's key
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    config.state.mkdir(mode=0o700, parents=True, exist_ok=True)
    applied = Applied(config.policy, config.status)
    authority = Authority.read(config.key, config.certificate)
    with asyncio.Runner(loop_factory=PinnedLoop) as runner:
        runner.run(_serve(config, applied, authority))


def _eager(
    loop: asyncio.AbstractEventLoop, work: Coroutine[Any, Any, Any], **given: Any
) -> "asyncio.Task[Any]":
    """As asyncio's own, which uvloop 0.23 calls as Python 3.14 does."""
    return asyncio.Task(work, loop=loop, **{**given, "eager_start": True})


async def _serve(config: Config, applied: Applied, authority: Authority) -> None:
    loop = asyncio.get_running_loop()
    loop.set_task_factory(_eager)  # most hooks are answered at once
    ending = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, ending.set)
    applied.refresh()
    door = Door(
        applied=applied,
        usage=Usage(config.state / "usage.json"),
        recorder=Recorder(config.recorder),
        leaves=Leaves(authority, lambda: datetime.now(UTC)),  # noqa: TID251 - where the clock comes in
        upstream=Upstream(config.upstream),
        resolver=Resolver(),
    )
    with suppress(asyncio.CancelledError):
        await Engine(config, door).serve(ending)
