"""What dockerd needs on a machine without an init of its own: flags, clean pid files, cgroups."""

import json
import os
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from orchestrator.stack.pids import start_time
from orchestrator.stack.steps import StepFailed

POLL_S = 0.05
DAEMON_JSON = Path("/etc/docker/daemon.json")
# An engine older than 23.0.11 forwards a sandbox's DNS questions to the host's resolver, even from
# an internal network; the dead resolver stops that. The logs of containers are capped.
SETTINGS: dict[str, Any] = {
    "dns": ["127.0.0.1"],
    "log-driver": "json-file",
    "log-opts": {"max-size": "5m", "max-file": "1"},
}


def flags(daemon_json: Path) -> list[str]:
    """Our settings as flags, without those that the machine's own file sets.

    (The engine refuses to start when a setting is in both.)
    """
    present: dict[str, Any] = {}
    with suppress(OSError, ValueError):
        present = json.loads(daemon_json.read_text())
    found: list[str] = []
    if "dns" not in present:
        found += ["--dns", "127.0.0.1"]
    if not {"log-driver", "log-opts"} & set(present):
        found += ["--log-driver", "json-file"]
        found += [
            part
            for key, value in SETTINGS["log-opts"].items()
            for part in ("--log-opt", f"{key}={value}")
        ]
    return found


def clear_stale_pid_file(pid_file: Path, *, program: str, patience_s: float = 0.0) -> None:
    """Remove the pid file of a killed engine: its process is gone, a zombie, or another program.

    The engine takes a zombie containerd for a running one, waits for it and gives up. A containerd
    whose dockerd was killed is killed by the kernel a moment later: `patience_s` is that moment.
    """
    try:
        pid = int(pid_file.read_text())
    except (OSError, ValueError):
        return
    deadline = time.monotonic() + patience_s
    while _runs(pid, program):
        if time.monotonic() >= deadline:
            return
        time.sleep(POLL_S)
    pid_file.unlink(missing_ok=True)


def _runs(pid: int, program: str) -> bool:
    try:
        name = Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return False
    return name == program and start_time(pid) is not None


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
