"""One embedded Polarion for all tests of this folder; each test has a project of its own."""

import itertools
from collections.abc import AsyncIterator, Iterator

import pytest

from orchestrator.adapters.polarion import PolarionClient
from tests.servers.polarion import PolarionServer, Wire, client_of, polarion_server, wire_to

_numbers = itertools.count(1)


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PolarionServer]:
    with polarion_server(tmp_path_factory.mktemp("polarion")) as running:
        yield running


@pytest.fixture(scope="session")
def strict_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PolarionServer]:
    with polarion_server(tmp_path_factory.mktemp("strict"), strict=True) as running:
        yield running


@pytest.fixture
async def admin(server: PolarionServer) -> AsyncIterator[PolarionClient]:
    async with client_of(server.base) as client:
        yield client


@pytest.fixture
async def wire(server: PolarionServer) -> AsyncIterator[Wire]:
    async with wire_to(server.base) as wire:
        yield wire


@pytest.fixture
async def project(admin: PolarionClient) -> str:
    name = f"P{next(_numbers)}"
    await admin.projects.create(name, prefix=name, name=f"Project {name}")
    return name
