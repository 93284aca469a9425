"""What this machine says of the walls: addresses, ports, engine, network, and the code itself."""

import hashlib
import json
import platform
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import docker
from docker.errors import DockerException

from entrance.errors import Unavailable
from orchestrator.adapters.firewall.probe import surroundings
from orchestrator.adapters.firewall.table import Bridge, table_text
from orchestrator.domain.dropped import Counted
from orchestrator.posture.report import Configuration

NETFILTER = Path("/proc/sys/net/bridge/bridge-nf-call-iptables")
CODE = Path(__file__).parents[3]
NOT_WALLS = ("orchestrator/cli", "orchestrator/stack")
"""Code that no wall is made of."""
LISTENS = "0A"
LOOPBACKS = ("0100007F", "00000000000000000000000001000000")
ICC = "com.docker.network.bridge.enable_icc"
WHOLE = "whole"


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the host has that a sandbox must not reach."""

    addresses: tuple[str, ...]
    addresses6: tuple[str, ...]
    listening: tuple[int, ...]
    resolvers: tuple[str, ...]


def look_around(bridge: Bridge) -> Surroundings:
    """The host's other addresses, the ports that somebody listens on, its resolvers. Blocking.

    Raises: OSError, SubprocessError.
    """
    around = surroundings(bridge)
    six = [address for address in around.addresses if ":" in address]
    local = [f"{address}%eth0" for address in _link_local(bridge.interface)]
    texts = (Path(f"/proc/net/{name}").read_text() for name in ("tcp", "tcp6"))
    return Surroundings(
        addresses=tuple(address for address in around.addresses if ":" not in address),
        addresses6=(*six, *local),
        listening=tuple(sorted({port for text in texts for port in listening_in(text)})),
        resolvers=around.resolvers,
    )


def listening_in(proc_net_tcp: str) -> Iterable[int]:
    """The ports in a text of /proc/net/tcp that are listened on, loopback's left out [pure]."""
    for line in proc_net_tcp.splitlines()[1:]:
        _, local, _, state, *_ = line.split()
        address, _, port = local.partition(":")
        if state == LISTENS and address not in LOOPBACKS:
            yield int(port, 16)


def _link_local(interface: str) -> list[str]:
    told = subprocess.run(
        ["ip", "-j", "-6", "addr", "show", "dev", interface],
        capture_output=True, check=False, text=True, timeout=10,
    )  # fmt: skip
    listed = json.loads(told.stdout) if told.returncode == 0 and told.stdout else []
    return [info["local"] for one in listed for info in one.get("addr_info", ())]


def bridge_flaws(found: Mapping[str, Any]) -> list[str]:
    """What the engine's inspection shows to be wrong with a sandbox network [pure]."""
    options: Mapping[str, str] = found.get("Options") or {}
    flaws = {
        "it is not internal": not found.get("Internal"),
        "its containers may talk to each other": options.get(ICC) != "false",
        "it has IPv6": bool(found.get("EnableIPv6")),
    }
    return [flaw for flaw, so in flaws.items() if so]


def bridged_is_filtered(switch: Path = NETFILTER) -> bool:
    """Whether what passes between two containers of a bridge passes the packet filter."""
    return switch.exists() and switch.read_text().strip() == "1"


@dataclass(frozen=True, slots=True)
class Made:
    """What the settings say that sandboxes are made of."""

    images: Mapping[str, str]
    """By harness, as the engine knows them."""
    seccomp: str
    caps: Mapping[str, str]
    runtime: str = ""
    """Empty: the engine's own."""
    egress: str = ""
    """What the egress proxy is made with; empty where there is none."""


def configuration(client: docker.DockerClient, bridge: Bridge, made: Made) -> Configuration:
    """Everything that the walls are made of, now. Blocking. Raises: Unavailable."""
    try:
        about, info = client.version(), client.info()
        images = {
            harness: str(client.images.get(image).id) for harness, image in made.images.items()
        }
    except (DockerException, OSError) as error:
        raise Unavailable(f"the engine doesn't say what sandboxes are made of: {error}") from error
    runtime = made.runtime or str(info.get("DefaultRuntime", ""))
    commit = (info.get("RuncCommit") or {}).get("ID", "") if runtime == "runc" else ""
    return Configuration(
        images=images,
        engine=f"{(about.get('Platform') or {}).get('Name') or 'Docker'} {about.get('Version', '')}",
        kernel=f"{platform.system()} {platform.release()} {platform.machine()}",
        runtime=f"{runtime} {commit}".strip(),
        tier="gvisor" if "runsc" in runtime or "gvisor" in runtime else "runc",
        seccomp_sha256=hashlib.sha256(made.seccomp.encode()).hexdigest(),
        firewall_sha256=hashlib.sha256(table_text(bridge, (), Counted(1)).encode()).hexdigest(),
        caps=dict(made.caps),
        egress=made.egress,
        version=version("sandgate"),
        code_sha256=code_sha256(CODE),
    )


@lru_cache(maxsize=1)
def code_sha256(root: Path) -> str:
    """SHA-256 over the code that the walls are made of: paths and bytes. Blocking, once a process.

    What runs is what was there at its start.
    """
    whole = hashlib.sha256()
    for package in ("entrance", "orchestrator", "proxy", "images"):
        for file in sorted((root / package).rglob("*")):
            path = file.relative_to(root).as_posix()
            if path.startswith(NOT_WALLS) or "__pycache__" in path or not file.is_file():
                continue
            whole.update(f"{path}\0{hashlib.sha256(file.read_bytes()).hexdigest()}\n".encode())
    return whole.hexdigest()


def container_flaws(found: Mapping[str, Any], seccomp: str) -> list[str]:
    """What the engine's inspection shows to be wrong with a sandbox's container [pure]."""
    host: Mapping[str, Any] = found.get("HostConfig") or {}
    options = [str(option) for option in host.get("SecurityOpt") or ()]
    profile = next((one.partition("=")[2] for one in options if one.startswith("seccomp=")), "")
    flaws = {
        "capabilities are kept": host.get("CapDrop") != ["ALL"] or bool(host.get("CapAdd")),
        "it may gain privileges": not any(one.startswith("no-new-privileges") for one in options),
        "its filter of calls is not ours": not _same_json(profile, seccomp),
        "it is privileged": bool(host.get("Privileged")),
        "it has devices": bool(host.get("Devices") or host.get("DeviceRequests")),
        "it shares a namespace with the host": any(
            host.get(mode) == "host" for mode in ("PidMode", "UTSMode", "UsernsMode", "IpcMode")
        ),
        "its processes have no cap": (host.get("PidsLimit") or 0) <= 0,
        "its memory has no cap": (host.get("Memory") or 0) <= 0,
        "no path of the kernel is masked": not (
            host.get("MaskedPaths") and host.get("ReadonlyPaths")
        ),
    }
    return [flaw for flaw, so in flaws.items() if so]


def _same_json(one: str, other: str) -> bool:
    try:
        return bool(json.loads(one) == json.loads(other))
    except ValueError:
        return False
