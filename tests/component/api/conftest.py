"""An API of its own for each test."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.servers.api import Api, api_server


@pytest.fixture
async def api(tmp_path: Path) -> AsyncIterator[Api]:
    async with api_server(tmp_path) as running:
        yield running
