"""A log to send on, and a place for how far it was sent."""

from pathlib import Path

import pytest

from orchestrator.egress.sending.cursor import CursorFile
from tests.fakes.egress_log import FakeEgressLog


@pytest.fixture
def log(tmp_path: Path) -> FakeEgressLog:
    log = FakeEgressLog(tmp_path / "log")
    log.attempt()
    log.decided(decision="deny", host="evil.example")
    log.seal()
    log.attempt(host="b.example")
    return log


@pytest.fixture
def cursor(tmp_path: Path) -> CursorFile:
    return CursorFile(tmp_path / "cursors" / "one.json")
