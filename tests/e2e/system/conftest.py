"""The theatre: one installation in which every demo is played, and sent back."""

from collections.abc import Iterator

import pytest

from orchestrator.stack import down
from tests.e2e.system.theatre import Theatre


@pytest.fixture(scope="package")
def theatre(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Theatre]:
    theatre = Theatre(tmp_path_factory.mktemp("theatre") / "home")
    yield theatre
    if theatre.home.exists():
        assert list(down.purge(theatre.here))
