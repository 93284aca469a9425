"""A PocketBase of its own for each test, and a client of it."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from orchestrator.adapters.pocketbase.client import PocketBase
from tests.servers.pocketbase import PocketBaseServer, pocketbase_server


@pytest.fixture
def server(tmp_path: Path) -> Iterator[PocketBaseServer]:
    with pocketbase_server(tmp_path) as running:
        yield running


@pytest.fixture
async def store(server: PocketBaseServer) -> AsyncIterator[PocketBase]:
    async with server.client() as client:
        yield client
