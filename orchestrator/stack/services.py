"""The long-running programs of an installation on this machine, in the order they depend on each other.

Each is a `Service`: how it is started, and how one sees that it is ready. What a service was started
with is kept next to its pid file as a fingerprint: a changed command or environment restarts it.
"""

import hashlib
import json
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.request import urlopen

from orchestrator.posture import UNPROVEN
from orchestrator.stack.installation import Installation
from orchestrator.stack.keys import make_key
from orchestrator.stack.opensandbox import OpenSandboxServer
from orchestrator.stack.process import Program, answers_http, answers_tcp
from orchestrator.stack.steps import Step, StepFailed

LOOPBACK = "127.0.0.1"
READY_S = 30.0
POSTURE_S = 60.0


@dataclass(frozen=True, slots=True)
class Service:
    """A program, the port it listens on, and the question that a ready one answers."""

    program: Program
    port: int
    ready: Callable[[], bool]

    def ensure(self, step: Step) -> None:
        """Have it running as it should be, and ready. Raises: StepFailed."""
        wanted = fingerprint(self.program)
        kept = self.program.pid_file.with_suffix(".made")
        if self.program.alive() and kept.exists() and kept.read_text() == wanted:
            self.program.wait_ready(self.ready, timeout_s=READY_S)
            return
        if self.program.alive():
            step.doing(f"restarting {self.program.name}: it is to run differently now")
            self.program.stop()
        else:
            step.doing(f"starting {self.program.name}")
        self._require_free_port()
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(wanted)
        self.program.start()
        self.program.wait_ready(self.ready, timeout_s=READY_S)

    def _require_free_port(self) -> None:
        if answers_tcp(LOOPBACK, self.port):
            raise StepFailed(
                f"{self.program.name} can't have port {self.port}",
                why=f"something else listens on {LOOPBACK}:{self.port}",
                what_to_do="Stop it, or remove installation.json from the home to choose new ports.",
            )


def fingerprint(program: Program) -> str:
    """A hash over everything that a program is started with."""
    made = {"argv": program.argv, "env": dict(sorted((program.env or {}).items()))}
    return hashlib.sha256(json.dumps(made).encode()).hexdigest()


def python_program(
    here: Installation, name: str, arguments: tuple[str, ...], env: Mapping[str, str]
) -> Program:
    """A program of this environment's Python, with its log and pid file in the installation."""
    return Program(
        name=name,
        argv=(sys.executable, "-P", *arguments),
        log=here.log / f"{name}.log",
        pid_file=here.run / f"{name}.pid",
        env=env,
        cwd=here.home,
    )


def polarion(here: Installation, env: Mapping[str, str]) -> Service:
    """The embedded Polarion-compatible server."""
    port = here.ports.polarion
    program = python_program(
        here,
        "polarion",
        (
            "-m",
            "polarion_app.embedded",
            f"--data={here.data('polarion')}",
            f"--host={LOOPBACK}",
            f"--port={port}",
            f"--admin-token-file={polarion_token(here)}",
        ),
        env,
    )
    return Service(program, port, lambda: answers_tcp(LOOPBACK, port))


def opensandbox(server: OpenSandboxServer, env: Mapping[str, str]) -> Service:
    """The OpenSandbox server; new settings are a new program, so that they restart it."""
    server.write_settings()
    settings = hashlib.sha256(server.settings_file.read_bytes()).hexdigest()
    program = server.program({**env})
    marked = replace(program, env={**(program.env or {}), "SANDGATE_SETTINGS": settings})
    return Service(marked, server.port, lambda: answers_http(LOOPBACK, server.port, "/health"))


def runner(here: Installation, env: Mapping[str, str]) -> Service:
    """The runner, and with it the entrance."""
    port = here.ports.runner
    program = python_program(here, "runner", ("-m", "orchestrator"), env)
    return Service(program, port, lambda: answers_http(LOOPBACK, port, "/api/health"))


def polarion_token(here: Installation) -> Path:
    """The file with the token of Polarion's service user."""
    return make_key(here.keys / "polarion-admin.token")


def require_posture(here: Installation, step: Step) -> None:
    """Wait until the runner has proven the sandbox network closed. Raises: StepFailed that names the leak."""
    until = time.monotonic() + POSTURE_S
    closed = UNPROVEN
    if _closed(here.ports.runner) == UNPROVEN:
        step.doing("trying every way out of a sandbox")
    while closed == UNPROVEN and time.monotonic() < until:
        closed = _closed(here.ports.runner)
        time.sleep(0.1)
    if closed:
        raise StepFailed(
            "no run may start",
            why=closed,
            what_to_do="`sandgate doctor` shows every check.",
        )


def _closed(port: int) -> str:
    try:
        with urlopen(f"http://{LOOPBACK}:{port}/api/health", timeout=5) as answer:
            return str(json.load(answer)["closed"])
    except (OSError, ValueError, KeyError):
        return UNPROVEN
