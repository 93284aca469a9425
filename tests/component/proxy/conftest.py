"""One egress proxy for a module's tests; each begins with nothing seen."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.servers.egress import Egress, egress
from tests.servers.namespaces import require_namespaces


@pytest.fixture(autouse=True, scope="session")
def able() -> None:
    """For root, as which the whole suite is run, nothing here is skipped."""
    require_namespaces()


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
