"""What the kernel holds a sandbox to, by its cgroup and mounts: the engine only repeats what it was asked.

With gVisor the first process is gVisor's own: its mounts and its resource limits are not the agent's,
and are left alone.
"""

import os
import re
import resource
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from orchestrator.adapters.opensandbox.blueprint import RUNSC, Blueprint
from orchestrator.adapters.opensandbox.counters import CGROUPS, groups_of
from orchestrator.ports import Mounts, SandboxSpec, Volumes

OPEN_FILES = 4096
"""Most open files of a process in a sandbox. It dumps no core either."""
PAGE_BYTES = 4096
CLOSE = 0.01
"""So much of a processor may lie between what was asked and what a scheduler can count."""


@dataclass(frozen=True, slots=True)
class Held:
    """The limits of a cgroup. None: the kernel knows none, or doesn't say."""

    pids: int | None = None
    memory_bytes: int | None = None
    swap_bytes: int | None = None
    """Beyond memory. None where the kernel doesn't account for swap."""
    cpus: float | None = None


@dataclass(frozen=True, slots=True)
class Mount:
    """A line of mountinfo."""

    device: str
    kind: str
    options: frozenset[str]
    """Of the mount and of its file system, e.g. `nosuid`, `size=65536k`."""


def wrong_with(pid: int, blueprint: Blueprint, spec: SandboxSpec) -> list[str]:
    """What of a sandbox, by its first process, is not held to what was asked. Blocking."""
    try:
        process = Path(f"/proc/{pid}")
        found = list(of_cgroup(_held((process / "cgroup").read_text()), blueprint))
        if blueprint.runtime != RUNSC:
            mounts = mounts_in((process / "mountinfo").read_text())
            found += of_mounts(mounts, blueprint, _disk(spec.mounts))
    except OSError as error:
        return [f"what the kernel holds it to can't be read: {error}"]
    return found


def take_swap(pid: int, blueprint: Blueprint) -> None:
    """Take the swap away where the engine can't: gVisor's containers can't be updated. Blocking.

    Raises: OSError when the sandbox is gone.
    """
    group = groups_of(Path(f"/proc/{pid}/cgroup").read_text(), CGROUPS)["memory"]
    for name, most in (
        ("memory.memsw.limit_in_bytes", blueprint.memory_bytes),
        ("memory.swap.max", 0),
    ):
        if (group / name).exists():  # one of each version of cgroups; none without swap accounting
            (group / name).write_text(str(most))


def hold(pid: int) -> None:
    """Limit the files and cores of what runs in a sandbox, and so of all that it starts. Blocking.

    Our own execd has done so already; another's may not. Raises: OSError when the sandbox is gone, or
    when it may not be done here.
    """
    group = groups_of(Path(f"/proc/{pid}/cgroup").read_text(), CGROUPS)["pids"]
    for each in (group / "cgroup.procs").read_text().split():
        with suppress(FileNotFoundError, ProcessLookupError):
            held = files_and_cores(Path(f"/proc/{each}/limits").read_text())
            if held[0] > OPEN_FILES:
                resource.prlimit(int(each), resource.RLIMIT_NOFILE, (OPEN_FILES, OPEN_FILES))
            if held[1] > 0:
                resource.prlimit(int(each), resource.RLIMIT_CORE, (0, 0))


def files_and_cores(limits: str) -> tuple[float, float]:
    """The hard limits of open files and of a core's bytes in `/proc/<pid>/limits` [pure]."""
    found = dict(re.findall(r"^Max (open files|core file size) +\S+ +(\S+)", limits, re.MULTILINE))
    files, cores = found["open files"], found["core file size"]
    return float(files.replace("unlimited", "inf")), float(cores.replace("unlimited", "inf"))


def of_cgroup(held: Held, blueprint: Blueprint) -> Iterator[str]:
    """What a cgroup's limits are other than asked [pure]."""
    if held.pids != blueprint.pids:
        yield f"the kernel allows {held.pids} processes, not {blueprint.pids}"
    if held.memory_bytes is None or abs(held.memory_bytes - blueprint.memory_bytes) >= PAGE_BYTES:
        yield f"the kernel allows {held.memory_bytes} bytes of memory, not {blueprint.memory_bytes}"
    if held.swap_bytes:
        yield f"the kernel allows {held.swap_bytes} bytes of swap, not 0"
    cpus = blueprint.nano_cpus / 1e9
    if held.cpus is None or abs(held.cpus - cpus) > CLOSE:
        yield f"the kernel allows {held.cpus} processors, not {cpus}"


def of_mounts(mounts: Mapping[str, Mount], blueprint: Blueprint, disk: str) -> Iterator[str]:
    """What of the mounts is other than asked; `disk` is the device of the task's disk, or empty [pure]."""
    small = {"/tmp": blueprint.tmp_bytes, "/dev/shm": blueprint.shm_bytes}  # noqa: S108 - inside
    nothing = Mount("", "nothing", frozenset())
    for place, size in small.items():
        mount = mounts.get(place, nothing)
        wanted = {f"size={size >> 10}k", "nosuid", "nodev"}
        if mount.kind != "tmpfs" or not wanted <= mount.options:
            yield f"{place} is not memory of {size} bytes at most, but {mount}"
    for place in ("/workspace", "/home/agent") if disk else ():
        mount = mounts.get(place, nothing)
        if mount.device != disk or not {"nosuid", "nodev"} <= mount.options:
            yield f"{place} is not on the task's disk, but on {mount}"


def mounts_in(mountinfo: str) -> dict[str, Mount]:
    """The mounts of a mountinfo by their place; the last one at a place is the one that is seen [pure]."""
    found: dict[str, Mount] = {}
    for line in mountinfo.splitlines():
        place, _, rest = line.partition(" - ")
        words, (kind, _, of_all) = place.split(), rest.split()[:3]
        options = frozenset({*words[5].split(","), *of_all.split(",")})
        found[words[4]] = Mount(words[2], kind, options)
    return found


def held_in(texts: Mapping[str, str]) -> Held:
    """The limits in a cgroup's files, by the files' names; cgroup v1 or v2 [pure]."""
    number = {name: _number(text) for name, text in texts.items()}
    memory = number.get("memory.max", number.get("memory.limit_in_bytes"))
    swap = number.get("memory.swap.max")
    together = number.get("memory.memsw.limit_in_bytes")
    if together is not None and memory is not None:
        swap = together - memory
    quota, period = number.get("cpu.cfs_quota_us"), number.get("cpu.cfs_period_us")
    if both := re.fullmatch(r"(\d+) (\d+)\s*", texts.get("cpu.max", "")):
        quota, period = int(both[1]), int(both[2])
    cpus = quota / period if quota and period and quota > 0 else None
    return Held(number.get("pids.max"), memory, swap, cpus)


FILES: Mapping[str, tuple[str, ...]] = {
    "pids": ("pids.max",),
    "memory": (
        *("memory.max", "memory.swap.max"),
        *("memory.limit_in_bytes", "memory.memsw.limit_in_bytes"),
    ),
    "cpu": ("cpu.max", "cpu.cfs_quota_us", "cpu.cfs_period_us"),
}
"""The files of each controller, of both versions."""


def _held(proc_cgroup: str) -> Held:
    folders = groups_of(proc_cgroup, CGROUPS)
    texts = {}
    for controller, names in FILES.items():
        for name in names:
            with suppress(OSError):
                texts[name] = (folders[controller] / name).read_text()
    return held_in(texts)


def _number(text: str) -> int | None:
    return int(text) if re.fullmatch(r"-?\d+\s*", text) else None


def _disk(mounts: Mounts | Volumes) -> str:
    """The device of a task's disk; none where it is volumes, which are the engine's own."""
    if isinstance(mounts, Volumes):
        return ""
    device = mounts.workspace.stat().st_dev
    return f"{os.major(device)}:{os.minor(device)}"
