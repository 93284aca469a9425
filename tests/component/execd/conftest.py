"""An execd of the test's own, or one for all tests that leave nothing behind."""

import runpy
import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from tests.component.execd.daemon import Daemon, connected, running, started

SOURCE = Path(__file__).parents[3] / "images" / "execd"


@pytest.fixture(scope="session")
def pyz() -> Iterator[Path]:
    """execd packed as it is shipped, where any user can read it."""
    folder = Path(tempfile.mkdtemp(prefix="execd-"))
    folder.chmod(0o755)
    runpy.run_path(str(SOURCE / "build.py"))["build"](folder / "execd")
    yield folder / "execd"
    shutil.rmtree(folder)


@pytest.fixture
async def execd(pyz: Path, tmp_path: Path) -> AsyncIterator[Daemon]:
    async with running(pyz, tmp_path) as daemon:
        yield daemon


@pytest.fixture(scope="session")
def shared(pyz: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[int, int, Path]]:
    home = tmp_path_factory.mktemp("shared")
    with started(pyz, home) as (pid, port):
        yield pid, port, home


@pytest.fixture
async def any_execd(shared: tuple[int, int, Path]) -> AsyncIterator[Daemon]:
    """For tests that only ask, or are refused."""
    async with connected(*shared) as daemon:
        yield daemon
