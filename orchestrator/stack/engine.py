"""The Docker engine of this machine: an answering one is used as it is, else one is installed."""

import fcntl
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import docker
from docker.errors import DockerException

from orchestrator.adapters.engine import SOCKET, connect
from orchestrator.stack import room
from orchestrator.stack.dockerd import (
    DAEMON_JSON,
    SETTINGS,
    clear_stale_pid_file,
    flags,
    mount_cgroups,
)
from orchestrator.stack.packages import DebianPackages
from orchestrator.stack.process import Program
from orchestrator.stack.steps import Step, StepFailed

ENGINE_PACKAGES = ("docker.io", "iptables", "ca-certificates")
# The engine is the machine's: it outlives any installation's home, so these aren't in one.
LOCK = Path("/run/sandgate-engine.lock")
PID_FILE = Path("/run/sandgate-engine.pid")
LOG = Path("/var/log/docker.log")
ANSWER_S = 5.0
CALL_S = 120.0
CONTAINERD_GONE_S = 5.0
START_S = 60.0


@dataclass(frozen=True, slots=True)
class Engine:
    """An engine that answers: where, which version, and what matters to us of its set-up."""

    url: str
    version: str
    cgroup_version: str
    storage_driver: str
    data_root: Path
    runtimes: tuple[str, ...]

    def client(self, *, timeout_s: float = CALL_S) -> docker.DockerClient:
        """A client of this engine; the caller closes it."""
        return connect(self.url, timeout_s=timeout_s)


def find(docker_host: str | None) -> Engine | None:
    """The engine at `docker_host` or at the usual socket, if it answers."""
    url = docker_host or SOCKET
    try:
        client = connect(url, timeout_s=ANSWER_S)
    except DockerException:
        return None
    try:
        info = client.info()
    except (DockerException, OSError):
        return None
    finally:
        client.close()
    return Engine(
        url=url,
        version=str(info["ServerVersion"]),
        cgroup_version=str(info.get("CgroupVersion", "1")),
        storage_driver=str(info["Driver"]),
        data_root=Path(info["DockerRootDir"]),
        runtimes=tuple(sorted(info.get("Runtimes") or {})),
    )


def ensure(step: Step, packages: DebianPackages, *, docker_host: str | None) -> Engine:
    """Return an answering engine; install and start one when there is none.

    Raises: StepFailed when there is none and none can be started.
    """
    found = find(docker_host)
    if found is None and docker_host:
        raise StepFailed(
            f"No Docker engine answers at {docker_host}",
            why="this address was given, so no other engine is looked for",
            what_to_do="Start that engine, or don't name one to use or install one here.",
        )
    if found is None:
        with _only_one_of_us(step):
            found = find(None) or _install_and_start(step, packages)
    step.note(f"{found.version}, {found.storage_driver}, cgroup v{found.cgroup_version}")
    return found


def _install_and_start(step: Step, packages: DebianPackages) -> Engine:
    installed: list[str] = []
    if shutil.which("dockerd") is None:
        room.require_free(Path("/usr"), room.ENGINE, "to install the Docker engine")
        installed = packages.ensure(ENGINE_PACKAGES, doing=step.doing)
    if os.geteuid() != 0:
        raise StepFailed(
            "The Docker engine does not run",
            why="starting it needs root",
            what_to_do="Start it (service docker start) or run this as root.",
        )
    if Path("/run/systemd/system").is_dir():
        return _start_by_systemd(step, settle=bool(installed))
    if shutil.which("iptables") is None:
        packages.ensure(("iptables",), doing=step.doing)
    mount_cgroups()
    return _start_detached(step)


def _start_by_systemd(step: Step, *, settle: bool) -> Engine:
    """Start the service. Its settings are only ours when we installed it and nobody else set any."""
    if settle and not DAEMON_JSON.exists():
        DAEMON_JSON.parent.mkdir(parents=True, exist_ok=True)
        DAEMON_JSON.write_text(json.dumps(SETTINGS, indent=2) + "\n")
    step.doing("starting the Docker service")
    done = subprocess.run(
        ["systemctl", "start", "docker"],
        capture_output=True,
        text=True,
        check=False,
        timeout=START_S,
    )
    found = find(None)
    if found is None:
        raise StepFailed(
            "The Docker service does not start",
            why=done.stderr or "systemctl said nothing",
            what_to_do="See: journalctl -u docker",
        )
    return found


def _start_detached(step: Step) -> Engine:
    step.doing("starting the Docker engine")
    clear_stale_pid_file(Path("/var/run/docker.pid"), program="dockerd")
    clear_stale_pid_file(
        Path("/var/run/docker/containerd/containerd.pid"),
        program="containerd",
        patience_s=CONTAINERD_GONE_S,
    )
    program = Program(
        name="The Docker engine",
        argv=("dockerd", "--log-level", "warn", *flags(DAEMON_JSON)),
        log=LOG,
        pid_file=PID_FILE,
        env=None,  # proxy settings, PATH: whatever the engine would have from a shell
        cwd=Path("/"),
    )
    program.start()
    program.wait_ready(
        lambda: Path("/var/run/docker.sock").exists() and find(None) is not None, timeout_s=START_S
    )
    found = find(None)
    if found is None:
        raise StepFailed("The Docker engine went away", why=program.log_tail())
    return found


@contextmanager
def _only_one_of_us(step: Step) -> Iterator[None]:
    """Let one set-up at a time install or start the engine."""
    if os.geteuid() != 0:
        yield
        return
    with LOCK.open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            step.doing("waiting for another set-up that installs the engine")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield
