"""Sandboxes and disks in memory: a harness is a list of lines and an exit code."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from entrance.errors import NotFound, SandgateError
from entrance.session import RunId, TaskId
from orchestrator.domain.verdict import Evidence
from orchestrator.ports import Completed, Mounts, Progress, Sandbox, SandboxSpec, WayIn
from orchestrator.runner.assigning import ANY_FILE
from orchestrator.runner.planting import PLANT


@dataclass
class FakeHarness:
    """What the next harness says, and how it ends; None: it goes on until interrupted."""

    lines: list[str] = field(default_factory=list)
    exit_code: int | None = 0


IMAGE = f"sha256:{'5' * 64}"


class FakeSandboxes:
    """`orchestrator.ports.Sandboxes` for tests."""

    def __init__(self, harness: FakeHarness | None = None) -> None:
        self.harness = harness or FakeHarness()
        self.live: dict[RunId, Sandbox] = {}
        self.made = 0
        self.frozen: set[RunId] = set()
        self.planted: list[Mapping[str, str]] = []
        self.specs: list[SandboxSpec] = []
        self.started: list[tuple[Sequence[str], Mapping[str, str]]] = []
        self.written: dict[str, bytes] = {}
        self.interrupted: list[str] = []
        self.clone = Completed(0, "")
        self.kept: set[str] = set()
        """Patterns that a file in the sandbox fits."""
        self.refuse: SandgateError | None = None
        self.host = Evidence()

    async def ping(self) -> None:
        if self.refuse:
            raise self.refuse

    async def create(self, spec: SandboxSpec) -> Sandbox:
        if self.refuse:
            raise self.refuse
        self.made += 1
        self.specs.append(spec)
        sandbox = Sandbox(
            f"sb-{self.made}",
            f"10.0.0.{self.made + 1}",
            spec.execd_token,
            {"pids": 1, "image_id": IMAGE},
        )
        self.live[spec.run] = sandbox
        return sandbox

    async def find(self, run: RunId, execd_token: str) -> Sandbox | None:
        found = self.live.get(run)
        return found if found and found.execd_token == execd_token else None

    async def kill(self, run: RunId) -> None:
        self.live.pop(run, None)
        self.frozen.discard(run)

    async def freeze(self, run: RunId) -> bool:
        if self.refuse:
            raise self.refuse
        if run in self.live:
            self.frozen.add(run)
        return run in self.live

    def way_in(self, sandbox: Sandbox, port: int) -> WayIn:
        return WayIn(f"http://{sandbox.address}:{port}", {"token": sandbox.execd_token})

    async def renew(self, sandbox: Sandbox) -> None:
        self._alive(sandbox)

    async def execute(
        self,
        sandbox: Sandbox,
        argv: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        cwd: str = "/workspace",
        timeout_s: float = 60,
    ) -> Completed:
        self._alive(sandbox)
        if argv[2] == PLANT:
            self.planted.append(env or {})
            return Completed(0, "")
        if argv[2] == ANY_FILE:
            return Completed(0 if argv[3] in self.kept else 1, "")
        return self.clone

    async def start(
        self, sandbox: Sandbox, argv: Sequence[str], *, env: Mapping[str, str], cwd: str
    ) -> str:
        self._alive(sandbox)
        self.started.append((argv, env))
        return f"cmd-{len(self.started)}"

    async def progress(self, sandbox: Sandbox, command: str, cursor: int) -> Progress:
        self._alive(sandbox)
        lines = self.harness.lines[cursor + 1 :]
        over = self.harness.exit_code is not None or command in self.interrupted
        return Progress(lines, len(self.harness.lines) - 1, not over, self.harness.exit_code)

    async def interrupt(self, sandbox: Sandbox, command: str) -> None:
        self._alive(sandbox)
        self.interrupted.append(command)

    async def sweep(self, sandbox: Sandbox) -> None:
        self._alive(sandbox)

    async def write(self, sandbox: Sandbox, path: str, content: bytes) -> None:
        self._alive(sandbox)
        self.written[path] = content

    async def evidence(self, run: RunId, task: TaskId) -> Evidence:
        return self.host

    async def orphans(self, live: Sequence[RunId]) -> Sequence[RunId]:
        return [run for run in self.live if run not in live]

    def _alive(self, sandbox: Sandbox) -> None:
        if sandbox not in self.live.values():
            raise NotFound(f"sandbox {sandbox.id} is gone")


class FakeDisks:
    """`orchestrator.ports.Disks` for tests."""

    def __init__(self) -> None:
        self.mounted: set[TaskId] = set()
        self.purged: set[TaskId] = set()

    async def ensure(self, task: TaskId) -> Mounts:
        self.mounted.add(task)
        return Mounts(Path("/tasks/workspace"), Path("/tasks/home"))

    async def release(self, task: TaskId) -> None:
        self.mounted.discard(task)

    async def purge(self, task: TaskId) -> None:
        assert task not in self.mounted
        self.purged.add(task)
