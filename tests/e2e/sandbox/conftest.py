"""The lab, once a worker; and the adapter against it, once a test."""

import os
import socket
from collections.abc import AsyncIterator, Iterator

import pytest

from orchestrator.adapters.opensandbox.sandboxes import OpenSandboxes
from orchestrator.ports import Sandbox, SandboxSpec
from tests.e2e.sandbox.lab import Lab, open_lab


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    env = {"PATH": os.environ["PATH"]}  # noqa: TID251 - the server finds its programs by it
    yield from open_lab(tmp_path_factory.mktemp("lab"), port, env)


@pytest.fixture
async def sandboxes(lab: Lab) -> AsyncIterator[OpenSandboxes]:
    async with lab.sandboxes() as adapter:
        yield adapter


@pytest.fixture
async def spec(lab: Lab) -> AsyncIterator[SandboxSpec]:
    async with lab.spec() as asked:
        yield asked


@pytest.fixture
async def sandbox(sandboxes: OpenSandboxes, spec: SandboxSpec) -> Sandbox:
    return await sandboxes.create(spec)
