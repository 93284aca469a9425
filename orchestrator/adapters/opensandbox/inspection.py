"""Is a container exactly the sandbox that was asked for? [pure]

The server is not trusted to have done so: what the engine says of the container decides.
"""

import json
from collections.abc import Mapping
from typing import Any

from orchestrator.adapters.opensandbox.blueprint import (
    RUNSC,
    Blueprint,
    binds,
    image_of,
    metadata,
)
from orchestrator.ports import SandboxSpec

EMPTY: tuple[str, ...] = (
    "CapAdd",
    "CgroupParent",
    "Devices",
    "DeviceRequests",
    "DeviceCgroupRules",
    "ExtraHosts",
    "GroupAdd",
    "Links",
    "Mounts",
    "OomKillDisable",
    "OomScoreAdj",
    "Sysctls",
    "Tmpfs",
    "VolumesFrom",
)
"""What a sandbox has none of."""
NOT_HOST: tuple[str, ...] = ("PidMode", "UTSMode", "UsernsMode", "IpcMode")
"""Namespaces of its own. (The cgroup namespace is the engine's choice: the host's on cgroup v1.)"""


def differences(container: Mapping[str, Any], blueprint: Blueprint, spec: SandboxSpec) -> list[str]:
    """What of the engine's inspection is other than asked; empty when nothing is."""
    host: Mapping[str, Any] = container["HostConfig"]
    config: Mapping[str, Any] = container["Config"]
    networks = (container.get("NetworkSettings") or {}).get("Networks") or {}
    labels = config.get("Labels") or {}
    wanted_labels = metadata(blueprint, spec)
    no_new_privileges, seccomp, other = _security(host.get("SecurityOpt") or [])
    table = {
        "image": (config.get("Image"), image_of(blueprint, spec)),
        "user": (config.get("User"), blueprint.user),
        "labels": ({key: labels.get(key) for key in wanted_labels}, wanted_labels),
        "capabilities dropped": (host.get("CapDrop"), ["ALL"]),
        "no-new-privileges": (no_new_privileges, True),
        "other security options": (other, []),
        "privileged": (host.get("Privileged"), False),
        "pids": (host.get("PidsLimit"), blueprint.pids),
        "memory": (host.get("Memory"), blueprint.memory_bytes),
        "cpus": (host.get("NanoCpus"), blueprint.nano_cpus),
        "network": (host.get("NetworkMode"), blueprint.network),
        "networks": (sorted(networks), [blueprint.network]),
        "binds": (sorted(host.get("Binds") or []), sorted(binds(blueprint, spec))),
        "restart policy": ((host.get("RestartPolicy") or {}).get("Name") or "no", "no"),
        "runtime": (_runtime(host), blueprint.runtime),
        **{key: (host.get(key) or None, None) for key in EMPTY},
        **{key: (host.get(key) == "host", False) for key in NOT_HOST},
        "paths masked": (bool(host.get("MaskedPaths") and host.get("ReadonlyPaths")), True),
    }
    found = [
        f"{what} is {is_!r}, not {asked!r}" for what, (is_, asked) in table.items() if is_ != asked
    ]
    if not _same_profile(seccomp, blueprint.seccomp):
        found.append("the seccomp profile is not ours")
    # -1 where the kernel can't account for swap: the engine drops the limit and can't do better.
    # With gVisor the kernel is told by us, and its word is what counts (see `limits`).
    held = blueprint.runtime == RUNSC
    if not held and host.get("MemorySwap") not in (blueprint.memory_bytes, -1):
        found.append(f"memory with swap is {host.get('MemorySwap')}, not {blueprint.memory_bytes}")
    return found


def address_of(container: Mapping[str, Any], network: str) -> str:
    """The container's address on the network; empty when it has none (it ended)."""
    networks = (container.get("NetworkSettings") or {}).get("Networks") or {}
    return str((networks.get(network) or {}).get("IPAddress") or "")


def _runtime(host: Mapping[str, Any]) -> str:
    """An engine names its own runtime in more than one way."""
    name = str(host.get("Runtime") or "runc")
    return "runc" if name == "io.containerd.runc.v2" else name


def _security(options: list[str]) -> tuple[bool, str, list[str]]:
    no_new_privileges, seccomp, other = False, "", []
    for option in options:
        name, _, value = option.partition("=")
        if name == "no-new-privileges" and value in ("", "true"):
            no_new_privileges = True
        elif name == "seccomp":
            seccomp = value
        else:
            other.append(option)
    return no_new_privileges, seccomp, other


def _same_profile(found: str, wanted: str) -> bool:
    if found == wanted:
        return True
    try:
        return bool(json.loads(found) == json.loads(wanted))
    except ValueError:
        return False
