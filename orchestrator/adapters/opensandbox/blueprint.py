"""What every sandbox of an installation is made of, and how that is asked of the server [pure]."""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

from entrance.errors import Forbidden
from entrance.session import RunId
from orchestrator.ports import SandboxSpec

INSTALLATION = "sandgate.installation"
"""The label on everything of ours."""
RUN = "run"
PROGRAM_LABELS: Mapping[str, str] = {
    "name": "sandgate.harness",
    "version": "sandgate.harness.version",
    "integrity": "sandgate.harness.integrity",
}
"""The labels of a sandbox image that say which harness's program it holds."""
ENTRYPOINT = ("tail", "-f", "/dev/null")
CEILING_S = 86_400
"""The expiry that the server writes on the container, where every other OpenSandbox server on this
engine reads it and acts on it; the real one, much shorter, is set by a renewal that only ours knows."""
RESERVED_ENV = re.compile(r"OPENSANDBOX_|EXECD_|LD_")
RUNSC = "runsc"
"""What the engine calls gVisor."""
GVISOR_PIDS = 4096
"""With gVisor the limit counts its own threads on the host: one that is small ends it with a panic."""
_UNITS = {"": 1, "Ki": 1 << 10, "Mi": 1 << 20, "Gi": 1 << 30}


@dataclass(frozen=True, slots=True)
class Blueprint:
    """The settings that all sandboxes share. Sizes as the API has them: `2Gi`, `1.5` or `500m`."""

    installation: str
    network: str
    images: Mapping[str, str]
    """By harness."""
    memory: str
    cpu: str
    pids: int
    tmp_bytes: int
    shm_bytes: int
    seccomp: str
    """The profile's JSON, as the server's own settings have it."""
    resolv_conf: Path
    """Mounted over /etc/resolv.conf by the server: names have no server, lookups fail at once."""
    trust: Mapping[Path, str] = field(default_factory=dict)
    """Files with the authorities that it trusts, mounted by the server, and where."""
    runtime: str = "runc"
    """As the engine calls it."""
    ttl_s: int = 600
    user: str = "10001:10001"

    @property
    def memory_bytes(self) -> int:
        found = re.fullmatch(r"(\d+)(|Ki|Mi|Gi)", self.memory)
        if not found:
            raise ValueError(f"memory {self.memory!r} is no size like 512Mi or 2Gi")
        return int(found[1]) * _UNITS[found[2]]

    @property
    def nano_cpus(self) -> int:
        number, milli = self.cpu.removesuffix("m"), self.cpu.endswith("m")
        return int(Decimal(number) * (1_000_000 if milli else 1_000_000_000))


@dataclass(frozen=True, slots=True)
class TmpVolume:
    """A volume of the engine that lives in memory: capped, and gone with its sandbox."""

    name: str
    mount: str
    options: str


def image_of(blueprint: Blueprint, spec: SandboxSpec) -> str:
    """The image of the harness's sandbox. Raises: Forbidden when there is none."""
    image = blueprint.images.get(spec.harness)
    if image is None:
        raise Forbidden(f"there is no sandbox image with the harness {spec.harness}")
    return image


def program_in(labels: Mapping[str, str]) -> dict[str, str]:
    """The harness's program in an image, as its labels tell: name, version, integrity.

    An image that wasn't built by us may have none of them.
    """
    return {key: labels[label] for key, label in PROGRAM_LABELS.items() if label in labels}


def tmp_volumes(blueprint: Blueprint, run: RunId) -> tuple[TmpVolume, TmpVolume]:
    """The volumes for /tmp and /dev/shm; their pages count as the sandbox's memory."""
    key = hashlib.sha256(run.encode()).hexdigest()[:16]
    prefix = f"{blueprint.installation}-{key}"
    common = "mode=1777,nosuid,nodev"
    return (
        TmpVolume(f"{prefix}-tmp", "/tmp", f"size={blueprint.tmp_bytes},{common}"),  # noqa: S108 - inside the sandbox
        TmpVolume(f"{prefix}-shm", "/dev/shm", f"size={blueprint.shm_bytes},{common},noexec"),  # noqa: S108 - inside the sandbox
    )


def binds(blueprint: Blueprint, spec: SandboxSpec) -> frozenset[str]:
    """The binds that the container must have, and no other, as the engine writes them."""
    tmp, shm = tmp_volumes(blueprint, spec.run)
    return frozenset(
        {
            f"{blueprint.resolv_conf}:/etc/resolv.conf:ro",
            *(f"{file}:{place}:ro" for file, place in blueprint.trust.items()),
            f"{spec.mounts.workspace}:/workspace:rw",
            f"{spec.mounts.home}:/home/agent:rw",
            f"{tmp.name}:{tmp.mount}:rw",
            f"{shm.name}:{shm.mount}:rw",
        }
    )


def metadata(blueprint: Blueprint, spec: SandboxSpec) -> dict[str, str]:
    """The container's labels."""
    return {
        INSTALLATION: blueprint.installation,
        "installation": blueprint.installation,
        RUN: spec.run,
        "task": label_value(spec.task),
    }


def create_request(blueprint: Blueprint, spec: SandboxSpec) -> dict[str, Any]:
    """The body of `POST /v1/sandboxes`.

    Raises: Forbidden for a reserved environment name, or a harness without an image.
    """
    reserved = sorted(name for name in spec.env if RESERVED_ENV.match(name))
    if reserved:
        raise Forbidden(f"the environment of a sandbox may not set {', '.join(reserved)}")
    return {
        "image": {"uri": image_of(blueprint, spec)},
        "entrypoint": list(ENTRYPOINT),
        "timeout": CEILING_S,
        "resourceLimits": {"cpu": blueprint.cpu, "memory": blueprint.memory},
        "env": {**spec.env, "EXECD_ACCESS_TOKEN": spec.execd_token},
        "metadata": metadata(blueprint, spec),
        "volumes": [
            _volume("workspace", spec.mounts.workspace, "/workspace"),
            _volume("home", spec.mounts.home, "/home/agent"),
            *(
                _volume(volume.name.rpartition("-")[2], volume.name, volume.mount)
                for volume in tmp_volumes(blueprint, spec.run)
            ),
        ],
    }


def facts(blueprint: Blueprint, container: Mapping[str, Any]) -> dict[str, Any]:
    """What the record of a run says of its sandbox."""
    return {
        "runtime": container["HostConfig"].get("Runtime", ""),
        "image": container["Config"].get("Image", ""),
        "image_id": container.get("Image", ""),
        "harness": program_in(container["Config"].get("Labels") or {}),
        "network": blueprint.network,
        "user": blueprint.user,
        "memory_bytes": blueprint.memory_bytes,
        "cpus": blueprint.nano_cpus / 1e9,
        "pids": blueprint.pids,
        "tmp_bytes": blueprint.tmp_bytes,
        "shm_bytes": blueprint.shm_bytes,
        "seccomp_sha256": hashlib.sha256(blueprint.seccomp.encode()).hexdigest(),
    }


def label_value(text: str) -> str:
    """`text` as a label's value: letters, digits, `-_.`, at most 63. For people, not for finding."""
    return re.sub(r"[^A-Za-z0-9_.-]", ".", text)[:63].strip("-_.")


def _volume(name: str, what: Path | str, mount: str) -> dict[str, Any]:
    """A folder of the host, or a volume of the engine, which must be there already."""
    if isinstance(what, Path):
        source: dict[str, Any] = {"host": {"path": str(what)}}
    else:
        source = {"pvc": {"claimName": what, "createIfNotExists": False}}
    return {"name": name, **source, "mountPath": mount, "readOnly": False}
