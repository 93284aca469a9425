"""The Docker engine of this machine: an answering one is used as it is, else one is installed."""

import fcntl
import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import docker
from docker.errors import DockerException

from orchestrator.stack.packages import DebianPackages
from orchestrator.stack.process import Program, start_time
from orchestrator.stack.steps import Step, StepFailed

SOCKET = "unix:///var/run/docker.sock"
ENGINE_PACKAGES = ("docker.io", "iptables", "ca-certificates")
DAEMON_JSON = Path("/etc/docker/daemon.json")
# The engine is the machine's: it outlives any installation's home, so these aren't in one.
LOCK = Path("/run/sandgate-engine.lock")
PID_FILE = Path("/run/sandgate-engine.pid")
LOG = Path("/var/log/docker.log")
# An engine older than 23.0.11 forwards a sandbox's DNS questions to the host's resolver, even from
# an internal network; the dead resolver stops that. The logs of containers are capped.
SETTINGS: dict[str, Any] = {
    "dns": ["127.0.0.1"],
    "log-driver": "json-file",
    "log-opts": {"max-size": "5m", "max-file": "1"},
}
ANSWER_S = 5.0
CALL_S = 120.0
START_S = 60.0
MIN_FREE_BYTES = 3 * 1024**3


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
        return docker.DockerClient(base_url=self.url, timeout=int(timeout_s))


def find(docker_host: str | None) -> Engine | None:
    """The engine at `docker_host` or at the usual socket, if it answers."""
    url = docker_host or SOCKET
    try:
        client = docker.DockerClient(base_url=url, timeout=int(ANSWER_S))
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


def ensure(
    step: Step, packages: DebianPackages, *, docker_host: str | None, env: Mapping[str, str]
) -> Engine:
    """Return an answering engine; install and start one when there is none.

    Raises: StepFailed when there is none and none can be started.
    """
    found = find(docker_host)
    if found is None and docker_host is not None:
        raise StepFailed(
            f"No Docker engine answers at {docker_host}",
            why="DOCKER_HOST names it, so no other is looked for",
            what_to_do="Start that engine, or unset DOCKER_HOST to use one on this machine.",
        )
    if found is None:
        with _only_one_of_us(step):
            found = find(None) or _install_and_start(step, packages, env=env)
    step.note(f"{found.version}, {found.storage_driver}, cgroup v{found.cgroup_version}")
    return found


def require_free_disk(folder: Path, *, min_bytes: int = MIN_FREE_BYTES) -> None:
    """Raises: StepFailed when the disk of `folder` (or of its nearest parent) has too little room."""
    while not folder.exists():
        folder = folder.parent
    free = shutil.disk_usage(folder).free
    if free < min_bytes:
        raise StepFailed(
            f"The disk of {folder} is nearly full",
            why=f"{free / 1e9:.1f} GB are free, {min_bytes / 1e9:.1f} GB are needed",
            what_to_do="Free some space and run the same command again.",
        )


def _install_and_start(step: Step, packages: DebianPackages, *, env: Mapping[str, str]) -> Engine:
    installed: list[str] = []
    if shutil.which("dockerd") is None:
        require_free_disk(Path("/var/lib/docker"))
        installed = packages.ensure(ENGINE_PACKAGES, doing=step.doing)
    if os.geteuid() != 0:
        raise StepFailed(
            "The Docker engine does not run",
            why="starting it needs root",
            what_to_do="Start it (service docker start) or run this as root.",
        )
    if Path("/run/systemd/system").is_dir():
        return _start_by_systemd(step, settle=bool(installed))
    packages.ensure(("iptables",), doing=step.doing)
    mount_cgroups()
    return _start_detached(step, env=env)


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


def _start_detached(step: Step, *, env: Mapping[str, str]) -> Engine:
    step.doing("starting the Docker engine")
    clear_stale_pid_file(Path("/var/run/docker.pid"), program="dockerd")
    clear_stale_pid_file(Path("/var/run/docker/containerd/containerd.pid"), program="containerd")
    program = Program(
        name="The Docker engine",
        argv=("dockerd", "--log-level", "warn", *engine_flags(DAEMON_JSON)),
        log=LOG,
        pid_file=PID_FILE,
        env=env,
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


def engine_flags(daemon_json: Path) -> list[str]:
    """Our settings as flags, without those that the machine's own file sets.

    (The engine refuses to start when a setting is in both.)
    """
    present: dict[str, Any] = {}
    with suppress(OSError, ValueError):
        present = json.loads(daemon_json.read_text())
    flags: list[str] = []
    if "dns" not in present:
        flags += ["--dns", "127.0.0.1"]
    if not {"log-driver", "log-opts"} & set(present):
        flags += ["--log-driver", "json-file"]
        flags += [
            part
            for key, value in SETTINGS["log-opts"].items()
            for part in ("--log-opt", f"{key}={value}")
        ]
    return flags


def clear_stale_pid_file(pid_file: Path, *, program: str) -> None:
    """Remove the pid file of a killed engine: its process is gone, a zombie, or another program.

    The engine takes a zombie containerd for a running one, waits for it and gives up.
    """
    try:
        pid = int(pid_file.read_text())
    except (OSError, ValueError):
        return
    with suppress(OSError):
        name = Path(f"/proc/{pid}/comm").read_text().strip()
        if name == program and start_time(pid) is not None:
            return
    pid_file.unlink(missing_ok=True)


def mount_cgroups(root: Path = Path("/sys/fs/cgroup")) -> None:
    """Mount cgroups (v1 hierarchies) on a machine whose init did not."""
    if (root / "cgroup.controllers").exists() or os.path.ismount(root / "memory"):
        return
    if not os.path.ismount(root):
        _mount("tmpfs", root, "mode=755")
    for line in Path("/proc/cgroups").read_text().splitlines():
        name, _, _, enabled = line.split()[:4]
        if line.startswith("#") or enabled != "1":
            continue
        folder = root / name
        folder.mkdir(exist_ok=True)
        if not os.path.ismount(folder):
            _mount("cgroup", folder, name)


def _mount(kind: str, where: Path, options: str) -> None:
    done = subprocess.run(
        ["mount", "-t", kind, "-o", options, "cgroup", str(where)],
        capture_output=True,
        text=True,
        check=False,
        timeout=10,
    )
    if done.returncode and kind == "tmpfs":
        raise StepFailed("Mounting cgroups failed", why=done.stderr)


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
