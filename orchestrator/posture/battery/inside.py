"""The sandbox's own walls: processes and files [pure]."""

from collections.abc import Sequence

from orchestrator.posture.probe import NOT_THERE, Area, Probe, Stage, Wall

MOUNTS = ("/workspace", "/home/agent", "/tmp", "/dev/shm")
ALWAYS_MOUNTED = (
    "/", "/etc/hostname", "/etc/hosts", "/etc/resolv.conf", "/home/agent", "/tmp", "/workspace",
)  # fmt: skip
DISKS = ("/workspace", "/home/agent")
ENGINES = (
    "/var/run/docker.sock", "/run/docker.sock", "/run/containerd/containerd.sock",
    "/run/podman/podman.sock", "/run/crio/crio.sock", "/var/run/secrets",
)  # fmt: skip
KERNEL_SETTINGS = (
    "/proc/sys/kernel/core_pattern", "/proc/sys/kernel/modprobe", "/proc/sys/vm/overcommit_memory",
    "/proc/sysrq-trigger", "/proc/irq/default_smp_affinity", "/sys/kernel/uevent_helper",
    "/sys/fs/cgroup/cgroup.procs", "/sys/fs/cgroup/memory/memory.limit_in_bytes",
    "/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/pids/pids.max", "/sys/fs/cgroup/pids.max",
    "/sys/fs/cgroup/release_agent", "/sys/fs/cgroup/memory/release_agent",
)  # fmt: skip
MASKED = (
    "/proc/kcore", "/proc/keys", "/proc/timer_list", "/proc/timer_stats", "/proc/sched_debug",
    "/proc/latency_stats", "/proc/acpi", "/proc/asound", "/proc/scsi", "/sys/firmware",
)  # fmt: skip
OF_IMAGE = (
    "/bin/bash", "/etc", "/etc/passwd", "/etc/gitconfig", "/etc/resolv.conf", "/etc/hosts", "/opt",
    "/opt/sandgate", "/opt/opensandbox", "/usr/bin", "/usr/local/bin",
    "/usr/local/libexec/sandgate/git-hook", "/usr/local/libexec/sandgate/hooks",
    "/usr/lib", "/run", "/var",
)  # fmt: skip
SECRET_WORDS = ("TOKEN", "KEY", "SECRET", "PASSW", "CREDENTIAL")
_P, _X = Area.PROCESSES, Area.FILES


def _execd(_stage: Stage, *headers: str) -> tuple[str, int, str]:
    lines = ("GET /metrics HTTP/1.1", "Host: execd", "Connection: close", *headers, "", "")
    return "127.0.0.1", 44772, "\r\n".join(lines)


def _mounts(stage: Stage) -> Sequence[str]:
    """Those whose options are ours: a watched disk is the engine's, mounted as the engine does."""
    return [mount for mount in MOUNTS if mount not in DISKS or not stage.watched_disks]


PROCESSES: tuple[Probe, ...] = (
    Probe(
        "pid1-environment", _P, Wall.EXECD,
        "The environment of the process that watches the agent, with its token, is closed.",
        "reads", lambda _: ["/proc/1/environ", "/proc/1/auxv"], gvisor=NOT_THERE,
    ),
    Probe(
        "pid1-memory", _P, Wall.EXECD, "Its memory is closed.",
        "opens", lambda _: ["read", "/proc/1/mem", "/proc/1/maps", "/proc/1/stack"],
        gvisor=("closed", "/proc/1/maps"),
    ),
    Probe(
        "pid1-files", _P, Wall.EXECD, "Its open files, its root and its folder are closed.",
        "reads", lambda _: ["/proc/1/fd", "/proc/1/root", "/proc/1/cwd", "/proc/1/map_files"],
        gvisor=NOT_THERE,
    ),
    Probe(
        "pid1-output", _P, Wall.EXECD,
        "Its output is no way onto the host's disk, past every quota.",
        "opens", lambda _: ["write", "/proc/1/fd/0", "/proc/1/fd/1", "/proc/1/fd/2", "/proc/1/mem"],
        gvisor=NOT_THERE,
    ),
    Probe(
        "pid1-signals", _P, Wall.EXECD, "No signal ends or stops it.",
        "signals", lambda _: ["SIGKILL", "SIGSTOP", "SIGTERM"], ("lives",), NOT_THERE,
    ),
    Probe(
        "pid1-limits", _P, Wall.SECCOMP, "Its limits can't be looked at or set.",
        "limit_of_another", lambda _: [0], ("EPERM",), NOT_THERE,
    ),
    Probe(
        "execd-without-token", _P, Wall.EXECD, "It serves nobody who shows no token.",
        "asks", _execd, ("401",),
    ),
    Probe(
        "execd-run-token", _P, Wall.EXECD, "The run's token doesn't open it.",
        "asks", lambda s: _execd(s, f"X-EXECD-ACCESS-TOKEN: {s.tokens.own}"), ("401",),
    ),
    Probe(
        "environment-secrets", _P, Wall.ENVIRONMENT,
        "Nothing in the agent's environment looks like a secret but the run token.",
        "secrets_in_environment", lambda _: SECRET_WORDS, ("SANDGATE_RUN_TOKEN",),
    ),
    Probe(
        "host-processes", _P, Wall.MASKS, "No process of the host is seen.",
        "processes", lambda _: ["systemd", "dockerd", "containerd", "kthreadd", "sshd", "runc"],
        ("none",),
    ),
    Probe(
        "core-dumps", _P, Wall.LIMITS, "A process that crashes leaves no memory behind.",
        "core", expected=("none",),
    ),
)  # fmt: skip

FILES: tuple[Probe, ...] = (
    Probe(
        "writable-image", _X, Wall.IMAGE, "Nothing of the image can be written to.",
        "of_image", lambda _: ["writable"], ("none",),
    ),
    Probe(
        "image-places", _X, Wall.IMAGE, "No program, no setting and no folder of it can be changed.",
        "makes", lambda _: OF_IMAGE,
    ),
    Probe(
        "setuid", _X, Wall.IMAGE, "No program of the image runs as another user.",
        "of_image", lambda _: ["setuid"], ("none",),
    ),
    Probe(
        "file-capabilities", _X, Wall.IMAGE, "No program of the image brings capabilities.",
        "of_image", lambda _: ["capabilities"], ("none",),
    ),
    Probe(
        "image-sockets", _X, Wall.IMAGE, "No socket lies in the image.",
        "of_image", lambda _: ["sockets"], ("none",),
    ),
    Probe(
        "image-devices", _X, Wall.IMAGE, "No device lies in the image.",
        "of_image", lambda _: ["devices"], ("none",),
    ),
    Probe(
        "engine-socket", _X, Wall.MOUNTS, "No engine's socket and no secret of one is mounted.",
        "there", lambda _: ENGINES, ("none",),
    ),
    Probe(
        "mounts", _X, Wall.MOUNTS, "Exactly the mounts that every sandbox has are there.",
        "mounts", lambda s: [*ALWAYS_MOUNTED, *s.trusted], ("exactly",),
    ),
    Probe(
        "mounts-nosuid", _X, Wall.MOUNTS, "No program on a mount runs as its owner.",
        "mounted_without", lambda s: ["nosuid", *_mounts(s)], ("none",), NOT_THERE,
    ),
    Probe(
        "mounts-nodev", _X, Wall.MOUNTS, "No device on a mount is one.",
        "mounted_without", lambda s: ["nodev", *_mounts(s)], ("none",), NOT_THERE,
    ),
    Probe(
        "devices", _X, Wall.MOUNTS, "Only the harmless devices are there.",
        "devices", expected=("full null random tty urandom zero",),
        gvisor=("full null random tty urandom zero", "full fuse null random tty urandom zero"),
    ),
    Probe(
        "make-device", _X, Wall.CAPABILITIES, "No device can be made.",
        "makes_device", expected=("EPERM",),
    ),
    Probe(
        "kernel-settings", _X, Wall.MASKS, "No setting of the kernel, no limit can be changed.",
        "opens", lambda _: ["write", *KERNEL_SETTINGS],
    ),
    Probe(
        "kernel-files", _X, Wall.MASKS, "What the kernel tells root only is not told.",
        "reads", lambda _: MASKED,
    ),
    Probe(
        "kernel-memory", _X, Wall.MASKS, "Neither memory nor log of the machine can be opened.",
        "opens", lambda _: ["read", "/dev/mem", "/dev/kmem", "/dev/port", "/dev/kmsg", "/proc/kmsg"],
    ),
    Probe(
        "host-folders", _X, Wall.MOUNTS, "None of the host's folders is there.",
        "there", lambda _: ["/host", "/hostfs", "/rootfs", "/var/lib/docker"], ("none",),
    ),
)  # fmt: skip
