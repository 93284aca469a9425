"""One egress proxy for a module's tests; each begins with nothing seen."""

import os
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.servers.egress import Egress, egress


@pytest.fixture(autouse=True, scope="session")
def able() -> None:
    """Network namespaces are root's to make."""
    if os.geteuid() != 0 or not shutil.which("ip"):
        pytest.skip("these tests make network namespaces: run them as root, with iproute2 there")


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def running(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Egress]:
    """All of it, started once."""
    folder: Path = tmp_path_factory.mktemp("egress")
    async with egress(folder) as started:
        yield started


@pytest_asyncio.fixture(loop_scope="module")
async def world(running: Egress) -> Egress:
    """It, with nothing seen."""
    await running.settled()
    running.forget()
    return running
