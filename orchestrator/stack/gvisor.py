"""gVisor as the sandboxes' runtime: found in the engine, or given to an engine that is ours.

Only where the setting `sandboxes.runtime` asks for it; nothing of it is installed otherwise. What it
puts on the machine belongs to the engine, which outlives any installation.
"""

import json
import os
import signal
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from orchestrator.adapters.engine import SOCKET
from orchestrator.adapters.opensandbox.blueprint import RUNSC
from orchestrator.stack import engine
from orchestrator.stack.dockerd import DAEMON_JSON, SETTINGS
from orchestrator.stack.engine import Engine
from orchestrator.stack.packages import DebianPackages
from orchestrator.stack.pids import recorded_pid
from orchestrator.stack.steps import Step, StepFailed

WRAPPER = Path("/usr/local/lib/sandgate/runsc")
DOCKERD_PID = Path("/var/run/docker.pid")
RUNTIMES: Mapping[str, Any] = {RUNSC: {"path": str(WRAPPER)}}
RELOAD_S = 15.0
POLL_S = 0.05
BY_HAND = (
    "Install gVisor, name it `runsc` under `runtimes` in the engine's daemon.json, and reload the"
    " engine; or take SANDBOXES__RUNTIME=gvisor out of settings.env."
)


def ensure(step: Step, docker: Engine, debian: DebianPackages) -> Engine:
    """The engine, which offers the runtime afterwards.

    Raises: StepFailed when it doesn't, and isn't ours to change.
    """
    if RUNSC in docker.runtimes:
        step.note(f"the engine offers {RUNSC}")
        return docker
    found = json.loads(DAEMON_JSON.read_text()) if DAEMON_JSON.exists() else {}
    started_by_us = docker.url == SOCKET and recorded_pid(engine.PID_FILE) is not None
    if why := not_ours(found, started_by_us=started_by_us):
        raise StepFailed(f"The engine offers no runtime {RUNSC}", why=why, what_to_do=BY_HAND)
    debian.ensure(("runsc",), doing=step.doing)
    step.doing("giving the engine the runtime runsc")
    WRAPPER.parent.mkdir(parents=True, exist_ok=True)
    _write(WRAPPER, Path(__file__).with_name("runsc.sh").read_text(), mode=0o755)
    DAEMON_JSON.parent.mkdir(parents=True, exist_ok=True)
    _write(DAEMON_JSON, json.dumps({**found, "runtimes": RUNTIMES}, indent=2) + "\n", mode=0o644)
    return _reloaded()


def not_ours(settings: Mapping[str, Any], *, started_by_us: bool) -> str:
    """Why an engine with this daemon.json is not ours to change; empty when it is [pure].

    It is where we started the engine, or wrote its file when we installed it.
    """
    without = {name: value for name, value in settings.items() if name != "runtimes"}
    if not started_by_us and without != SETTINGS:
        return "the engine was not set up by Sandgate, which changes none but its own"
    if without not in ({}, SETTINGS) or settings.get("runtimes", RUNTIMES) != RUNTIMES:
        return f"{DAEMON_JSON} has settings that are not Sandgate's"
    return ""


def _reloaded() -> Engine:
    """Let the engine read its file again: it needs no restart, and no container ends."""
    os.kill(int(DOCKERD_PID.read_text()), signal.SIGHUP)
    deadline = time.monotonic() + RELOAD_S
    while True:
        found = engine.find(None)
        if found and RUNSC in found.runtimes:
            return found
        if time.monotonic() > deadline:
            raise StepFailed(
                f"The engine does not take the runtime {RUNSC}",
                why=f"it was told to read {DAEMON_JSON} again",
                what_to_do=f"Its log says why: {engine.LOG}, or journalctl -u docker",
            )
        time.sleep(POLL_S)


def _write(path: Path, text: str, *, mode: int) -> None:
    """Whole or not at all: the engine may be reading it."""
    part = path.with_name(f"{path.name}.part")
    part.write_text(text)
    part.chmod(mode)
    part.replace(path)
