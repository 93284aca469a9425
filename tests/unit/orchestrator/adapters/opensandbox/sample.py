"""A blueprint, a spec, and the container that the engine shows when all is as asked."""

from pathlib import Path
from typing import Any

from entrance.session import RunId, TaskId
from orchestrator.adapters.opensandbox.blueprint import Blueprint, binds, image_of, metadata
from orchestrator.ports import Mounts, SandboxSpec

BLUEPRINT = Blueprint(
    installation="sgabc123",
    network="sgabc123",
    images={
        "native": "sandgate/sgabc123-sandbox:1",
        "codex": "sandgate/sgabc123-sandbox-codex:1",
    },
    memory="1Gi",
    cpu="1.5",
    pids=256,
    tmp_bytes=64 << 20,
    shm_bytes=16 << 20,
    seccomp='{"defaultAction":"SCMP_ACT_ERRNO"}',
    resolv_conf=Path("/srv/sandgate/resolv.conf"),
)
MOUNTS = Mounts(Path("/srv/sandgate/t/mount/workspace"), Path("/srv/sandgate/t/mount/home"))
SPEC = SandboxSpec(RunId("r1"), TaskId("DEMO/T-1"), "token", MOUNTS, "native", {"A": "b"})


def container() -> dict[str, Any]:
    """What `docker inspect` says of a sandbox that is exactly what was asked."""
    return {
        "Image": "sha256:1",
        "State": {"Running": True, "Pid": 1},
        "Config": {
            "Image": image_of(BLUEPRINT, SPEC),
            "User": "10001:10001",
            "Labels": {**metadata(BLUEPRINT, SPEC), "opensandbox.io/id": "x"},
        },
        "HostConfig": {
            "CapDrop": ["ALL"],
            "CapAdd": None,
            "SecurityOpt": ["no-new-privileges=true", f"seccomp={BLUEPRINT.seccomp}"],
            "Privileged": False,
            "PidsLimit": 256,
            "Memory": 1 << 30,
            "MemorySwap": 1 << 30,
            "NanoCpus": 1_500_000_000,
            "NetworkMode": "sgabc123",
            "Binds": sorted(binds(BLUEPRINT, SPEC)),
            "RestartPolicy": {"Name": "no"},
            "PidMode": "",
            "IpcMode": "private",
            "UTSMode": "",
            "UsernsMode": "",
            "MaskedPaths": ["/proc/kcore"],
            "ReadonlyPaths": ["/proc/sys"],
            "Runtime": "runc",
        },
        "NetworkSettings": {"Networks": {"sgabc123": {"IPAddress": "10.77.3.2"}}},
    }
