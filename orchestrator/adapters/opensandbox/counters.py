"""The host's counters of a container: what the kernel did to it, which nothing inside can forge."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

CGROUPS = Path("/sys/fs/cgroup")
CONTROLLERS = ("memory", "pids", "cpu")


@dataclass(frozen=True, slots=True)
class Counters:
    """Processes killed for memory, and forks refused for the process limit."""

    oom_kills: int = 0
    pids_refused: int = 0


def groups_of(proc_cgroup: str, root: Path = CGROUPS) -> Mapping[str, Path]:
    """The folder of each controller, from the text of `/proc/<pid>/cgroup` (v1, v2 or both)."""
    groups: dict[str, str] = {}
    for line in proc_cgroup.splitlines():
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        for controller in controllers.split(","):
            groups[controller] = path.lstrip("/")
    if "memory" in groups:  # v1: one hierarchy a controller
        return {name: root / name / groups.get(name, groups["memory"]) for name in CONTROLLERS}
    return dict.fromkeys(CONTROLLERS, root / groups.get("", ""))


def files_of(proc_cgroup: str, root: Path = CGROUPS) -> Mapping[str, Path]:
    """Where the counters are, by name, from the text of `/proc/<pid>/cgroup`."""
    groups = groups_of(proc_cgroup, root)
    v1 = groups["memory"] != groups["pids"]
    oom = groups["memory"] / ("memory.oom_control" if v1 else "memory.events")
    return {"oom": oom, "pids": groups["pids"] / "pids.events"}


def counters_in(texts: Mapping[str, str]) -> Counters:
    """The counters in the texts of those files; a text that isn't there counts as nothing seen."""
    return Counters(
        oom_kills=_number(texts.get("oom", ""), "oom_kill"),
        pids_refused=_number(texts.get("pids", ""), "max"),
    )


def read(pid: int) -> Counters:
    """The counters of the container whose first process is `pid`; nothing when it is gone."""
    try:
        files = files_of(Path(f"/proc/{pid}/cgroup").read_text())
    except OSError:
        return Counters()
    texts = {}
    for name, path in files.items():
        try:
            texts[name] = path.read_text()
        except OSError:
            continue  # that controller is off on this host
    return counters_in(texts)


def _number(text: str, key: str) -> int:
    found = re.search(rf"^{key} (\d+)$", text, re.MULTILINE)
    return int(found[1]) if found else 0
