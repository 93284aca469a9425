"""The door that every test here goes through."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.servers.git import Door, door


@pytest.fixture
async def at_door(tmp_path: Path) -> AsyncIterator[Door]:
    async with door(tmp_path) as opened:
        yield opened
