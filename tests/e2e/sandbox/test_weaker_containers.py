"""Containers that are weaker than a sandbox in one thing: the battery's probes see each."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from orchestrator.posture.battery import BATTERY
from orchestrator.posture.probe import Area, Caps
from tests.e2e.sandbox.boxes import Box, hardened
from tests.e2e.sandbox.lab import Lab
from tests.fakes.posture import STAGE

pytestmark = [pytest.mark.docker, pytest.mark.timeout(120)]
CAPS = Caps(pids=128, memory_bytes=256 << 20, disk_bytes=1 << 20, tmp_bytes=1, shm_bytes=64 << 20)

INSIDE = [
    probe
    for probe in BATTERY
    if probe.area in {Area.KERNEL, Area.PROCESSES, Area.FILES, Area.LIMITS}
    and probe.name != "clock"
]
AS_A_CONTAINER = {
    *("pid1-environment", "pid1-memory", "pid1-files", "pid1-output"),
    *("execd-without-token", "execd-run-token", "mounts", "mounts-nosuid", "mounts-nodev"),
    *("workspace-cap", "home-cap", "tmp-cap"),
}
"""What a plain container lacks: an execd that nobody can look into, and mounts with caps."""


@pytest.fixture(scope="module")
def box(lab: Lab, tmp_path_factory: pytest.TempPathFactory) -> Box:
    folder = tmp_path_factory.mktemp("box")
    folder.chmod(0o755)
    stage = replace(STAGE, caps=CAPS)
    return Box(lab.client, lab.images.sandbox, folder, stage, lab.bridge.name)


def without(name: str) -> Callable[[], dict[str, Any]]:
    def options() -> dict[str, Any]:
        left = hardened()
        del left[name]
        return left

    return options


def with_(**changes: Any) -> Callable[[], dict[str, Any]]:
    return lambda: {**hardened(), **changes}


WEAKER: dict[str, tuple[Callable[[], dict[str, Any]], set[str]]] = {
    "the engine's own filter": (
        with_(security_opt=["no-new-privileges=true"]),
        {"socket-vsock", "call-io-uring", "call-ptrace", "call-vmsplice"},
    ),
    "no filter": (
        with_(security_opt=["no-new-privileges=true", "seccomp=unconfined"]),
        {"socket-alg", "socket-vsock", "call-clone3", "call-user-namespace", "seccomp"},
    ),
    "privileges to gain": (
        with_(security_opt=hardened()["security_opt"][1:]), {"no-new-privileges"}
    ),
    "capabilities": (without("cap_drop"), {"capabilities"}),
    "root": (with_(user="0:0"), {"user", "writable-image", "image-places"}),
    "no cap of processes": (without("pids_limit"), {"processes-cap"}),
    "no cap of memory": (
        lambda: {k: v for k, v in hardened().items() if not k.startswith("mem")}, {"memory-cap"}
    ),
    "no cap of files": (without("ulimits"), {"open-files-cap", "core-cap"}),
    "the engine's socket": (
        with_(volumes={"/var/run/docker.sock": {"bind": "/var/run/docker.sock", "mode": "ro"}}),
        {"engine-socket"},
    ),
    "the host's processes": (with_(pid_mode="host"), {"host-processes"}),
    "a device": (with_(devices=["/dev/fuse:/dev/fuse:rw"]), {"devices"}),
}  # fmt: skip


def test_a_container_that_is_no_sandbox_fails_where_it_is_none(box: Box) -> None:
    assert box.fails(INSIDE, **hardened()) == AS_A_CONTAINER


@pytest.mark.parametrize("weakness", WEAKER)
def test_a_weaker_container_is_seen(box: Box, weakness: str) -> None:
    """CASE-18, CASE-83."""
    options, caught = WEAKER[weakness]
    assert box.fails(INSIDE, **options()) - AS_A_CONTAINER >= caught
