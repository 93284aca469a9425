"""The long-running programs of an installation on this machine, in the order they depend on each other.

Each is a `Service`: how it is started, and how one sees that it is ready. What a service was started
with is kept next to its pid file as a fingerprint: a changed command, environment or code restarts
it. What only says from which shell it was started changes nothing.
"""

import hashlib
import json
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from urllib.request import urlopen

from orchestrator.adapters.firewall.table import Bridge
from orchestrator.posture import UNPROVEN
from orchestrator.stack import seccomp
from orchestrator.stack.addresses import require_free_port
from orchestrator.stack.content import digest, tree_hash
from orchestrator.stack.installation import Installation
from orchestrator.stack.keys import make_key
from orchestrator.stack.opensandbox import OpenSandboxServer
from orchestrator.stack.process import Program, answers_http, answers_tcp
from orchestrator.stack.steps import Step, StepFailed
from orchestrator.stack.watchdog import READY, arguments_of

LOOPBACK = "127.0.0.1"
READY_S = 120.0
POSTURE_S = 60.0
PROVING_S = 180.0
"""A battery takes seconds; on a machine that is busy with other things, much longer."""
CODE = Path(__file__).parents[1]
READ_BY_THE_RUNNER = (
    "api.token",
    "opensandbox.key",
    "pocketbase.password",
    "polarion-admin.token",
)
OF_THE_SHELL = ("PATH", "LANG", "LC_", "TMPDIR", "PYTHON")
"""Variables that begin so are no reason to restart what runs."""


@dataclass(frozen=True, slots=True)
class Service:
    """A program, the port it listens on if it does, and the question that a ready one answers."""

    program: Program
    port: int | None
    ready: Callable[[], bool]
    content: str = ""
    """A hash of what else it is made of: its code, its settings file."""
    host: str = LOOPBACK
    """The address that it listens on."""

    def ensure(self, step: Step) -> None:
        """Have it running as it should be, and ready. Raises: StepFailed."""
        wanted = fingerprint(self.program, self.content)
        kept = self.program.pid_file.with_suffix(".made")
        if self.program.alive() and kept.exists() and kept.read_text() == wanted:
            self.program.wait_ready(self.ready, timeout_s=READY_S)
            return
        if self.program.alive():
            step.doing(f"restarting {self.program.name}: it is to run differently now")
        else:
            step.doing(f"starting {self.program.name}")
        self.program.stop()  # also one whose pid file was lost
        if self.port is not None:
            require_free_port(self.program.name, self.port, self.host)
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(wanted)
        self.program.start()
        self.program.wait_ready(self.ready, timeout_s=READY_S)


def fingerprint(program: Program, content: str = "") -> str:
    """A hash over everything that makes a program what it is."""
    env = sorted((program.env or {}).items())
    made = [list(program.argv), [pair for pair in env if not pair[0].startswith(OF_THE_SHELL)]]
    return digest(json.dumps(made), content)


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
    made_of = digest(tree_hash(CODE.parent / "polarion_app"), _keys(here, "polarion-admin.token"))
    return Service(program, port, lambda: answers_tcp(LOOPBACK, port), made_of)


def opensandbox(server: OpenSandboxServer, env: Mapping[str, str]) -> Service:
    """The OpenSandbox server; new settings are a new program, so that they restart it."""
    server.write_settings()
    settings = hashlib.sha256(server.settings_file.read_bytes()).hexdigest()
    port = server.port
    return Service(
        server.program(env), port, lambda: answers_http(LOOPBACK, port, "/health"), settings
    )


def watchdog(
    here: Installation, bridge: Bridge, docker_host: str, env: Mapping[str, str]
) -> Service:
    """What keeps the sandbox network closed while the runner is away."""
    told = arguments_of(
        bridge, runner_pid=here.run / "runner.pid", home=here.home, docker_host=docker_host
    )
    program = python_program(here, "watchdog", ("-m", "orchestrator.stack.watchdog", *told), env)
    firewall = tree_hash(CODE / "adapters" / "firewall")
    made_of = digest(firewall, Path(__file__).with_name("watchdog.py").read_text())
    return Service(program, None, lambda: READY in program.log_tail(lines=1 << 10), made_of)


def runner(here: Installation, env: Mapping[str, str]) -> Service:
    """The runner, and with it the entrance."""
    port = here.ports.runner
    program = python_program(here, "runner", ("-m", "orchestrator"), env)
    code = digest(
        tree_hash(CODE, leave_out=("cli", "stack")),
        tree_hash(CODE.parent / "entrance"),
        tree_hash(CODE.parent / "proxy"),  # its policy is what the runner compiles and tries
        seccomp.file_of(here).read_text(),  # the runner holds every sandbox against it
        _keys(here, *READ_BY_THE_RUNNER),
    )
    return Service(program, port, lambda: answers_http(LOOPBACK, port, "/api/health"), code)


def _keys(here: Installation, *names: str) -> str:
    """A hash of key files: one that was lost and made anew restarts whoever has read the old one."""
    return digest(*(path.read_text() for path in map(here.keys.joinpath, names) if path.exists()))


def of_the_stack() -> str:
    """The hash of the code that the stack's own programs are made of."""
    return tree_hash(CODE / "stack")


def polarion_token(here: Installation) -> Path:
    """The file with the token of Polarion's service user."""
    return make_key(here.keys / "polarion-admin.token")


def require_posture(here: Installation, step: Step) -> None:
    """Wait until the runner has proven the sandbox network closed. Raises: StepFailed that names the leak."""
    until = time.monotonic() + PROVING_S
    proving, closed = True, UNPROVEN
    if _proven(here.ports.runner)[0]:
        step.doing("trying every way out of a sandbox")
    while proving and time.monotonic() < until:
        proving, closed = _proven(here.ports.runner)
        time.sleep(0.1)
    if closed:
        # It may be of an earlier look, and mended by this very `up`.
        step.doing("trying every way out of a sandbox again")
        closed = _look_again(here)
    if closed:
        raise StepFailed(
            "no run may start",
            why=closed,
            what_to_do="`sandgate doctor` shows every check.",
        )


def _look_again(here: Installation) -> str:
    """Have the runner probe now, and say what is open then."""
    key = (here.keys / "api.token").read_text().strip()
    runner = HTTPConnection(LOOPBACK, here.ports.runner, timeout=POSTURE_S)
    with suppress(OSError, HTTPException), closing(runner):
        runner.request("GET", "/api/doctor", headers={"Authorization": f"Bearer {key}"})
        runner.getresponse().read()
    return _proven(here.ports.runner)[1]


def _proven(port: int) -> tuple[bool, str]:
    """Whether it is being proven still, and why no run may start."""
    try:
        with urlopen(f"http://{LOOPBACK}:{port}/api/health", timeout=5) as answer:
            said = json.load(answer)
            return bool(said["proving"]), str(said["closed"])
    except (OSError, ValueError, KeyError):
        return True, UNPROVEN
