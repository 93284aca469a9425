"""A whole sandbox set-up of its own: bridge, table, images, server; it removes every trace of itself."""

import contextlib
import secrets
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from ipaddress import IPv4Network
from pathlib import Path

import aiohttp
import docker

from entrance.session import RunId, TaskId
from orchestrator.adapters import disk
from orchestrator.adapters.disk import TaskDisks
from orchestrator.adapters.firewall.admission import Firewall
from orchestrator.adapters.firewall.table import Bridge
from orchestrator.adapters.opensandbox.blueprint import INSTALLATION, Blueprint
from orchestrator.adapters.opensandbox.engine import ID_LABEL, Engine
from orchestrator.adapters.opensandbox.http import Server
from orchestrator.adapters.opensandbox.lifecycle import Parts
from orchestrator.adapters.opensandbox.sandboxes import OpenSandboxes
from orchestrator.ports import SandboxSpec
from orchestrator.stack import network
from orchestrator.stack.engine import Engine as DockerEngine
from orchestrator.stack.engine import find
from orchestrator.stack.harness_programs import HARNESS_PROGRAMS
from orchestrator.stack.image_store import ImageStore
from orchestrator.stack.images import ImageBuilder, ImageTags
from orchestrator.stack.opensandbox import OpenSandboxServer, seccomp_profile
from orchestrator.stack.process import Program, answers_http
from orchestrator.stack.steps import Step

API_KEY = "lab-key"
TASK = TaskId("LAB/T-1")
TOKEN = "execd-token-of-the-lab"
DISK_BYTES = 64 << 20


@dataclass(frozen=True, slots=True)
class Lab:
    """What the tests of one worker share."""

    home: Path
    engine: DockerEngine
    client: docker.DockerClient
    bridge: Bridge
    images: ImageTags
    server: OpenSandboxServer
    program: Program

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.port}"

    @property
    def tasks(self) -> Path:
        return self.home / "tasks"

    def blueprint(self, *, memory: str = "256Mi") -> Blueprint:
        return Blueprint(
            installation=self.bridge.name,
            network=self.bridge.name,
            images=self.images.by_harness,
            memory=memory,
            cpu="1",
            pids=self.server.pids,
            tmp_bytes=32 << 20,
            shm_bytes=16 << 20,
            seccomp=seccomp_profile(),
            resolv_conf=self.server.resolv_conf,
        )

    @contextlib.asynccontextmanager
    async def sandboxes(self, blueprint: Blueprint | None = None) -> AsyncIterator[OpenSandboxes]:
        """The adapter against this lab, with its own connections."""
        async with aiohttp.ClientSession() as session:
            with contextlib.closing(docker.APIClient(timeout=30)) as api:
                yield OpenSandboxes(
                    Parts(
                        blueprint=blueprint or self.blueprint(),
                        server=Server(session, self.url, API_KEY),
                        engine=Engine(api, self.bridge.name, self.bridge.name),
                        admission=Firewall(self.bridge),
                        now=lambda: datetime.now(UTC),  # noqa: TID251 - the server's clock is this one
                    )
                )

    def disks(self) -> TaskDisks:
        """Small disks for tasks."""
        return TaskDisks(self.tasks, size_bytes=DISK_BYTES)

    @contextlib.asynccontextmanager
    async def spec(self, run: str = "r1", task: TaskId = TASK) -> AsyncIterator[SandboxSpec]:
        """What to ask for; the disk is there meanwhile."""
        disks = self.disks()
        mounts = await disks.ensure(task)
        try:
            yield SandboxSpec(RunId(run), task, TOKEN, mounts, "native")
        finally:
            async with self.sandboxes() as sandboxes:
                await sandboxes.kill(RunId(run))
            await disks.release(task)
            await disks.purge(task)

    def containers(self) -> list[str]:
        """Names of the lab's sandboxes, dead ones too."""
        labels = [self._ours, ID_LABEL]
        rows = self.client.api.containers(all=True, filters={"label": labels})
        return [row["Names"][0].removeprefix("/") for row in rows]

    def volumes(self) -> list[str]:
        found = self.client.api.volumes({"label": self._ours})
        return [row["Name"] for row in found["Volumes"] or []]

    def clean(self) -> None:
        """Remove every trace."""
        self.program.stop(grace_s=5)
        for row in self.client.api.containers(all=True, filters={"label": self._ours}):
            self.client.api.remove_container(row["Id"], force=True)
        for name in self.volumes():
            self.client.api.remove_volume(name)
        disk.release_all(self.tasks)
        network.remove(self.client, self.bridge)
        with ImageStore.on(self.engine, self.bridge.name) as store:
            store.remove_all()

    @property
    def _ours(self) -> str:
        return f"{INSTALLATION}={self.bridge.name}"


def new_bridge() -> Bridge:
    """A network that no other test has."""
    name = f"sgt{secrets.token_hex(3)}"
    third, fourth = 96 + secrets.randbelow(120), secrets.randbelow(256)
    subnet = IPv4Network(f"10.{third}.{fourth}.0/24")
    return Bridge(name, f"{name}b0", subnet, subnet[1], (8080, 8081))


def open_lab(home: Path, port: int, env: dict[str, str]) -> Iterator[Lab]:
    """Set a lab up, hand it out, take it down."""
    found = find(None)
    assert found is not None
    client = found.client()
    bridge = new_bridge()
    builder = ImageBuilder(found, bridge.name, home / "cache", harnesses=tuple(HARNESS_PROGRAMS))
    images = builder.ensure(Step("images", print))
    network.ensure(client, bridge)
    (home / "tasks").mkdir(parents=True)
    server = OpenSandboxServer(
        data=home / "opensandbox",
        log=home / "log" / "opensandbox.log",
        pid_file=home / "run" / "opensandbox.pid",
        port=port,
        api_key=API_KEY,
        network=bridge.name,
        execd_image=images.execd,
        pids=128,
        tasks=home / "tasks",
    )
    server.write_settings()
    program = server.program(env)
    lab = Lab(home, found, client, bridge, images, server, program)
    try:
        program.start()
        program.wait_ready(lambda: answers_http("127.0.0.1", port, "/health"), timeout_s=60)
        yield lab
    finally:
        lab.clean()
        client.close()


def other(spec: SandboxSpec, run: str) -> SandboxSpec:
    """The same, for another run."""
    return replace(spec, run=RunId(run))
