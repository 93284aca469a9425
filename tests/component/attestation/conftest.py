"""An installation, a repository, and a push of it that was attested."""

from datetime import timedelta
from pathlib import Path

import pytest

from entrance.log.segments import Rules
from tests.component.attestation.pushed import Pushed
from tests.servers.attested import House, Repository


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path / "home", Rules(segment_age=timedelta(minutes=30)))


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path / "clone")


@pytest.fixture
async def pushed(house: House, repository: Repository) -> Pushed:
    push = await house.pushed(repository)
    return Pushed(house, repository, push, await house.attested(push))
