"""The houses of held pushes and calls: an inbox, and all that sending needs."""

from pathlib import Path

import pytest

from tests.fakes.approvals import Inbox
from tests.fakes.pushes import PushHouse
from tests.fakes.world import FakeWorld


@pytest.fixture
def house(tmp_path: Path) -> PushHouse:
    return PushHouse(Inbox(FakeWorld(tmp_path)))
