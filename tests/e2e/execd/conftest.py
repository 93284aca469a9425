"""One sandbox, made by the unmodified SDK on the real server, for all the tests of this folder."""

import os
import socket
from collections.abc import AsyncIterator, Iterator
from datetime import timedelta

import docker
import pytest
import pytest_asyncio
from opensandbox import Sandbox
from opensandbox.config import ConnectionConfig
from opensandbox.models.sandboxes import PVC, Volume

from orchestrator.adapters.opensandbox.blueprint import INSTALLATION
from tests.e2e.sandbox.lab import API_KEY, Lab, open_lab

TOKEN = "execd-token-of-the-contract"
SIZES = {"/tmp": "64m", "/home/agent": "128m"}  # noqa: S108  # where they are mounted


@pytest.fixture(scope="package")
def contract_lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    env = {"PATH": os.environ["PATH"]}  # noqa: TID251  # the server finds its programs by it
    yield from open_lab(tmp_path_factory.mktemp("contract"), port, env)


def tmpfs(client: docker.DockerClient, lab: Lab, at: str) -> Volume:
    """A capped place to write to."""
    name = f"{lab.bridge.name}-contract{at.replace('/', '-')}"
    options = {"type": "tmpfs", "device": "tmpfs", "o": f"size={SIZES[at]},mode=1777"}
    labels = {INSTALLATION: lab.bridge.name}
    client.volumes.create(name, driver="local", driver_opts=options, labels=labels)
    return Volume(name=at.strip("/").replace("/", "-"), pvc=PVC(claim_name=name), mount_path=at)


@pytest_asyncio.fixture(scope="package", loop_scope="package")
async def sandbox(contract_lab: Lab) -> AsyncIterator[Sandbox]:
    lab = contract_lab
    config = ConnectionConfig(
        api_key=API_KEY,
        domain=f"127.0.0.1:{lab.server.port}",
        headers={"X-EXECD-ACCESS-TOKEN": TOKEN},
        request_timeout=timedelta(seconds=60),
        use_server_proxy=True,
        disable_metrics=True,
    )
    made = await Sandbox.create(
        lab.images.sandbox,
        timeout=timedelta(minutes=20),
        env={"EXECD_ACCESS_TOKEN": TOKEN, "EXECD_ENVS": "/home/agent/.execd.env"},
        metadata={INSTALLATION: lab.bridge.name},
        resource={"cpu": "1", "memory": "256Mi"},
        entrypoint=["tail", "-f", "/dev/null"],
        volumes=[tmpfs(lab.client, lab, at) for at in SIZES],
        connection_config=config,
    )
    try:
        yield made
    finally:
        await made.kill()
        await made.close()
