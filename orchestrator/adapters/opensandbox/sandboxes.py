"""`OpenSandboxes`: `ports.Sandboxes`, put together."""

import os
from collections.abc import Awaitable, Mapping, Sequence
from typing import Any

from entrance.errors import Malformed, Unavailable
from entrance.session import RunId, TaskId
from orchestrator.adapters.opensandbox import counters
from orchestrator.adapters.opensandbox.execd import Execd
from orchestrator.adapters.opensandbox.lifecycle import Lifecycle, Parts
from orchestrator.domain.verdict import Evidence
from orchestrator.ports import Completed, Progress, Sandbox, SandboxSpec, WayIn


class OpenSandboxes:
    """Implements `ports.Sandboxes`. A lost sandbox raises NotFound that says what became of it."""

    def __init__(self, parts: Parts) -> None:
        self._life = Lifecycle(parts)
        self._engine = parts.engine

    async def ping(self) -> None:
        """Return when the server answers. Raises: Unavailable."""
        await self._life.require_server()

    async def create(self, spec: SandboxSpec) -> Sandbox:
        """Make it, see that it is exactly what was asked, admit its address, wait until it answers.

        Nothing is left when it raises. Raises: Unavailable, Forbidden (it was not what was asked).
        """
        return await self._life.create(spec)

    async def find(self, run: RunId, execd_token: str) -> Sandbox | None:
        """The run's live sandbox, or None. Never one whose execd is dead."""
        return await self._life.find(run, execd_token)

    async def kill(self, run: RunId) -> None:
        """Close its way out, end it, remove what belonged to it. Idempotent. Raises: Unavailable."""
        await self._life.kill(run)

    async def freeze(self, run: RunId) -> bool:
        """Stop everything in it as it is, close its way out, let it not expire. Raises: Unavailable."""
        return await self._life.freeze(run)

    async def renew(self, sandbox: Sandbox) -> None:
        """Heartbeat: without it the sandbox ends by itself soon. Raises: Unavailable, NotFound."""
        await self._or_lost(sandbox, self._life.renew(sandbox))

    async def orphans(self, live: Sequence[RunId]) -> Sequence[RunId]:
        """Runs that have something of this installation left but are not among `live`."""
        return await self._life.orphans(live)

    async def execute(
        self,
        sandbox: Sandbox,
        argv: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        cwd: str = "/workspace",
        timeout_s: float = 60,
    ) -> Completed:
        """Run a short command to its end; the last 256 Ki characters of its output are kept."""
        call = self._execd(sandbox).run(argv, env=env or {}, cwd=cwd, timeout_s=timeout_s)
        done = await self._or_lost(sandbox, call)
        if done.exit_code is None:
            await self._life.require_alive(sandbox)
        return done

    async def start(
        self, sandbox: Sandbox, argv: Sequence[str], *, env: Mapping[str, str], cwd: str
    ) -> str:
        """Start a command in the background and return its id. Raises: Malformed (can't start)."""
        return await self._or_lost(sandbox, self._execd(sandbox).start(argv, env=env, cwd=cwd))

    async def progress(self, sandbox: Sandbox, command: str, cursor: int) -> Progress:
        """What the command said after line `cursor` (-1: from the start), and whether it still runs.

        `running` turns False once the last of its lines was told, never before.
        """
        return await self._or_lost(sandbox, progress_of(self._execd(sandbox), command, cursor))

    async def interrupt(self, sandbox: Sandbox, command: str) -> None:
        """SIGINT to the command's group, then SIGTERM, then SIGKILL; all within seconds."""
        await self._or_lost(sandbox, self._execd(sandbox).interrupt(command))

    async def sweep(self, sandbox: Sandbox) -> None:
        """End every process that a run left behind."""
        await self._or_lost(sandbox, self._execd(sandbox).sweep())

    async def write(
        self, sandbox: Sandbox, path: str, content: bytes, *, mode: int = 0o600
    ) -> None:
        """Write a file as the sandbox's user."""
        await self._or_lost(sandbox, self._execd(sandbox).write(path, content, mode))

    async def read(self, sandbox: Sandbox, path: str, *, limit: int) -> bytes:
        """A file's content. Raises: NotFound, Malformed when it is longer than `limit` bytes."""
        return await self._or_lost(sandbox, self._execd(sandbox).read(path, limit))

    def way_in(self, sandbox: Sandbox, port: int) -> WayIn:
        """The way to whoever listens on a port of the sandbox's loopback."""
        return self._execd(sandbox).way_in(port)

    async def evidence(self, run: RunId, task: TaskId) -> Evidence:  # noqa: ARG002 - the port's
        """The host's counters for the run's sandbox; works on a dead one while its container is there.

        A dead one's cgroup is gone: then the engine's word on memory is what is left.
        """
        for found in await self._engine.containers(run):
            container = await self._engine.inspect(found.sandbox)
            state = container["State"]
            seen = counters.read(state["Pid"]) if state.get("Pid") else counters.Counters()
            return Evidence(
                oom_kills=max(seen.oom_kills, int(bool(state.get("OOMKilled")))),
                pids_refused=seen.pids_refused,
                disk_free_bytes=_free_bytes(container),
            )
        return Evidence()

    async def _or_lost[T](self, sandbox: Sandbox, call: Awaitable[T]) -> T:
        """What the call returns; when it fails because the sandbox is lost, NotFound says so."""
        try:
            return await call
        except (Unavailable, Malformed):
            await self._life.require_alive(sandbox)
            raise

    def _execd(self, sandbox: Sandbox) -> Execd:
        return self._life.execd(sandbox)


async def progress_of(execd: Execd, command: str, cursor: int) -> Progress:
    """Where a background command is, see `OpenSandboxes.progress`."""
    page = await execd.logs(command, cursor)
    if page.lines or page.running:  # it is over when there is nothing more to be read
        return Progress(page.lines, page.cursor, running=True)
    status = await execd.status(command)
    if not status.running:  # only what is read after its end is all of it
        page = await execd.logs(command, page.cursor)
    running = status.running or bool(page.lines)
    return Progress(page.lines, page.cursor, running, None if running else status.exit_code)


def _free_bytes(container: Mapping[str, Any]) -> int:
    for mount in container.get("Mounts") or ():
        if mount.get("Destination") == "/workspace":
            try:
                found = os.statvfs(mount["Source"])
            except OSError:
                return -1
            return found.f_bavail * found.f_frsize
    return -1
