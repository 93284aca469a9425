"""What a sandbox may take, and its clock [pure]."""

from orchestrator.posture.probe import NOT_THERE, Area, Arguments, Probe, Stage, Wall
from orchestrator.posture.wire import request

_L = Area.LIMITS


def _cgroup(limit: int, *names: str) -> tuple[int | str, ...]:
    return (limit, *(f"/sys/fs/cgroup/{name}" for name in names))


def _on_disk(stage: Stage, path: str) -> Arguments | None:
    return None if stage.watched_disks else [path, stage.caps.disk_bytes]


LIMITS: tuple[Probe, ...] = (
    Probe(
        "processes-cap", _L, Wall.LIMITS, "Processes have a cap.",
        "cgroup", lambda s: _cgroup(s.caps.pids, "pids/pids.max", "pids.max"), ("capped",), NOT_THERE,
    ),
    Probe(
        "memory-cap", _L, Wall.LIMITS, "Memory has a cap.",
        "cgroup",
        lambda s: _cgroup(s.caps.memory_bytes, "memory/memory.limit_in_bytes", "memory.max"),
        ("capped",), NOT_THERE,
    ),
    Probe(
        "swap-cap", _L, Wall.LIMITS, "Swap adds nothing to it.",
        "cgroup",
        lambda s: _cgroup(s.caps.memory_bytes, "memory/memory.memsw.limit_in_bytes", "memory.swap.max"),
        ("capped", "not said"), NOT_THERE,
    ),
    Probe(
        "workspace-cap", _L, Wall.LIMITS, "The workspace ends at the task's disk.",
        "capped", lambda s: _on_disk(s, "/workspace"), ("capped",),
    ),
    Probe(
        "home-cap", _L, Wall.LIMITS, "The home ends at the task's disk.",
        "capped", lambda s: _on_disk(s, "/home/agent"), ("capped",),
    ),
    Probe(
        "tmp-cap", _L, Wall.LIMITS, "/tmp has a cap.",
        "capped", lambda s: ["/tmp", s.caps.tmp_bytes], ("capped",),
    ),
    Probe(
        "shm-cap", _L, Wall.LIMITS, "/dev/shm has a cap.",
        "capped", lambda s: ["/dev/shm", s.caps.shm_bytes], ("capped",),
    ),
    Probe(
        "open-files-cap", _L, Wall.LIMITS, "Open files have a cap.",
        "rlimit", lambda _: ["RLIMIT_NOFILE"], ("4096 4096",),
    ),
    Probe(
        "open-files-raised", _L, Wall.CAPABILITIES, "It can't be raised.",
        "raise_rlimit", lambda _: ["RLIMIT_NOFILE"], ("EPERM",),
    ),
    Probe(
        "core-cap", _L, Wall.LIMITS, "The size of core dumps is none, and can't be raised.",
        "rlimit", lambda _: ["RLIMIT_CORE"], ("0 0",),
    ),
    Probe(
        "clock", _L, Wall.CLOCK, "The clock in the sandbox is the host's.",
        "clock", lambda s: [s.place.gateway, s.place.door, request("GET /healthz"), 3.0], ("right",),
    ),
)  # fmt: skip
