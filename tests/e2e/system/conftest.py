"""The theatre, an installation in which every demo is played and sent back; and one that may be shaken."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from orchestrator.stack import down
from tests.e2e.completeness.trial import wanted
from tests.e2e.conftest import FILES
from tests.e2e.house import House, open_house
from tests.e2e.system.theatre import Theatre
from tests.servers.certificates import WebAuthority


@pytest.fixture(scope="package")
def theatre(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Theatre]:
    theatre = Theatre(tmp_path_factory.mktemp("theatre") / "home")
    yield theatre
    if theatre.home.exists():
        assert list(down.purge(theatre.here))


@pytest.fixture(scope="package")
def web(tmp_path_factory: pytest.TempPathFactory) -> WebAuthority:
    """The authority of the web that the egress proxy of `own` believes in."""
    return WebAuthority(tmp_path_factory.mktemp("web"))


@pytest.fixture(scope="package")
def own(tmp_path_factory: pytest.TempPathFactory, web: WebAuthority) -> Iterator[House]:
    """A house that may be shaken: its programs are killed, its walls torn down."""
    home, scenario = tmp_path_factory.mktemp("own") / "home", Path(__file__).parents[1]
    yield from open_house(home, FILES, scenario / "scenario.yaml", wanted(web))
