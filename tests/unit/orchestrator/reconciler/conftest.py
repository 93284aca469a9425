"""A world whose one task has a harness that says a little and ends."""

from pathlib import Path

import pytest

from tests.fakes.sandboxes import FakeHarness, FakeSandboxes
from tests.fakes.world import FakeWorld
from tests.unit.orchestrator.reconciler.driving import SAYS


@pytest.fixture
def world(tmp_path: Path) -> FakeWorld:
    return FakeWorld(tmp_path, sandboxes=FakeSandboxes(FakeHarness(SAYS)))
