"""The watchdog as a program: it is started once, and leaves a runner that is there alone."""

import os
from pathlib import Path

from orchestrator.settings import service_environment
from orchestrator.stack.installation import Installation
from orchestrator.stack.pids import record_pid
from orchestrator.stack.services import watchdog
from orchestrator.stack.steps import Step
from orchestrator.stack.wiring import bridge_of


def test_it_starts_once_and_does_nothing_while_the_runner_is_there(tmp_path: Path) -> None:
    here = Installation.open(tmp_path / "home", create=True)
    record_pid(here.run / "runner.pid", os.getpid())
    service = watchdog(here, bridge_of(here), "", service_environment())
    said: list[str] = []
    try:
        for _ in range(2):
            service.ensure(Step("x", said.append))
        assert said == ["starting watchdog"]
        assert service.program.log_tail() == "watching"
    finally:
        service.program.stop()
    assert not service.program.alive()
