"""Sandboxes from the settings."""

import json
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, closing
from ipaddress import IPv4Address

import aiohttp
import docker
from docker.errors import DockerException, ImageNotFound

from entrance.errors import NotFound, Unavailable
from entrance.session import RunId, Session
from orchestrator.adapters.engine import connect
from orchestrator.adapters.firewall.admission import Firewall
from orchestrator.adapters.firewall.table import Bridge
from orchestrator.adapters.opensandbox.blueprint import (
    GVISOR_PIDS,
    RUNSC,
    Blueprint,
    program_in,
)
from orchestrator.adapters.opensandbox.engine import Engine
from orchestrator.adapters.opensandbox.http import Server
from orchestrator.adapters.opensandbox.lifecycle import Parts
from orchestrator.adapters.opensandbox.sandboxes import OpenSandboxes
from orchestrator.domain.dropped import Owner
from orchestrator.drops import Owners
from orchestrator.ports import Clock, Runs
from orchestrator.settings import Settings

MIB = 1 << 20
ENGINE_S = 120
EGRESS_PORT_AFTER = 1
"""The egress proxy's port is the one after the entrance's."""


def bridge_of(settings: Settings) -> Bridge:
    """The sandbox network."""
    given, port = settings.sandboxes, settings.entrance.port
    return Bridge(
        name=given.network,
        interface=given.bridge,
        subnet=given.subnet,
        gateway=IPv4Address(settings.entrance.host),
        doors=(port, port + EGRESS_PORT_AFTER),
    )


def seccomp_of(settings: Settings) -> str:
    """The seccomp profile on one line, as the engine is given it."""
    text = settings.sandboxes.seccomp_file.read_text()
    return json.dumps(json.loads(text), separators=(",", ":"))


def blueprint_of(settings: Settings) -> Blueprint:
    """What every sandbox is made of."""
    given = settings.sandboxes
    gvisor = given.runtime == "gvisor"
    return Blueprint(
        installation=settings.name,
        network=given.network,
        images=given.images,
        memory=given.memory,
        cpu=given.cpu,
        pids=GVISOR_PIDS if gvisor else given.pids,
        runtime=RUNSC if gvisor else "runc",
        tmp_bytes=given.tmp_mib * MIB,
        shm_bytes=given.shm_mib * MIB,
        seccomp=seccomp_of(settings),
        resolv_conf=given.resolv_conf,
        trust=given.trust,
        ttl_s=given.ttl_s,
    )


def harnesses_there(settings: Settings) -> str:
    """Which harnesses can be run here, with their versions.

    Raises: NotFound when the image of one is gone; Unavailable when no engine answers.
    """
    given = settings.sandboxes
    try:
        with closing(connect(given.docker, timeout_s=ENGINE_S)) as client:
            return ", ".join(_held(client, *each) for each in given.images.items())
    except (DockerException, OSError) as error:
        raise Unavailable(f"the Docker engine doesn't answer: {error}") from error


def _held(client: docker.DockerClient, harness: str, image: str) -> str:
    try:
        labels = client.images.get(image).labels
    except ImageNotFound as error:
        raise NotFound(
            f"the image of {harness} is gone from the engine ({image}); `sandgate up` makes it anew"
        ) from error
    return f"{harness} {program_in(labels).get('version', '')}".strip()


def open_engine(settings: Settings, stack: AsyncExitStack) -> Engine:
    """The Docker engine; `stack` closes it. Raises: Unavailable when none answers."""
    given = settings.sandboxes
    try:
        client = docker.APIClient(base_url=given.docker or None, timeout=ENGINE_S)
    except DockerException as error:
        raise Unavailable(f"the Docker engine doesn't answer: {error}") from error
    stack.callback(client.close)
    return Engine(client, settings.name, given.network)


def open_sandboxes(
    settings: Settings,
    http: aiohttp.ClientSession,
    engine: Engine,
    *,
    admission: Firewall,
    clock: Clock,
    settle: Callable[[], Awaitable[None]],
) -> OpenSandboxes:
    """The adapter. `settle` is called before an address changes hands."""
    given = settings.sandboxes
    return OpenSandboxes(
        Parts(
            blueprint=blueprint_of(settings),
            server=Server(http, given.url, given.api_key_file.read_text().strip()),
            engine=engine,
            admission=admission,
            now=clock.now,
            settle=settle,
        )
    )


def owners_of(
    engine: Engine, runs: Runs, server_at: Callable[[str], Session | None] = lambda _: None
) -> Owners:
    """Whose each address is now, by the engine: it knows a sandbox before it is let in.

    `server_at`: whose an address is that is of an MCP server's sandbox.
    """

    async def owner(run: RunId, address: str) -> Owner:
        if server := server_at(address):
            return Owner(server.run, server)
        try:
            return Owner(run, (await runs.get(run)).session)
        except NotFound:
            return Owner(run)

    async def owners() -> Mapping[str, Owner]:
        found = await engine.containers()
        return {
            each.address: await owner(RunId(each.run), each.address)
            for each in found
            if each.address
        }

    return owners
