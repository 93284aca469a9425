"""A door with a model server behind it, and a plain HTTP client."""

from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest

from tests.servers.anthropic import ModelServer, model_server
from tests.servers.door import Door, open_door


@pytest.fixture
async def model() -> AsyncIterator[ModelServer]:
    async with model_server() as server:
        yield server


@pytest.fixture
async def door(tmp_path: Path, model: ModelServer) -> AsyncIterator[Door]:
    async with open_door(tmp_path, model) as opened:
        yield opened


@pytest.fixture
async def http() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(20)) as session:
        yield session
