"""The sandbox network of one installation: an internal bridge of the engine, and its nft table.

Alone, an internal bridge exposes every service of the host; the table (`adapters.firewall`) leaves
the doors. Both are made once, checked by what the engine and the kernel say, and made again only
when they are wrong.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from ipaddress import IPv4Address
from pathlib import Path
from typing import Any

import docker
from docker.errors import APIError, DockerException, NotFound
from docker.types import IPAMConfig, IPAMPool

from entrance.errors import Unavailable
from orchestrator.adapters.firewall.nft import nft
from orchestrator.adapters.firewall.standing import counted_on, listed, wrong_with
from orchestrator.adapters.firewall.table import Bridge, registered_in, table_text
from orchestrator.stack.steps import StepFailed

LABEL = "sandgate.installation"
SANDBOX_LABEL = "installation"
BRIDGE_NETFILTER = Path("/proc/sys/net/bridge/bridge-nf-call-iptables")
OPTIONS: Mapping[str, str] = {
    "com.docker.network.bridge.enable_icc": "false",
    "com.docker.network.bridge.enable_ip_masquerade": "false",
}


def ensure(client: docker.DockerClient, bridge: Bridge) -> bool:
    """Make or check the bridge and the table; say whether anything was made.

    Raises: StepFailed, in a sentence, when either can't be made or stands wrong and is in use.
    """
    made = _ensure_bridge(client, bridge)
    require_bridge_netfilter(BRIDGE_NETFILTER)
    return _ensure_table(client, bridge) or made


def remove(client: docker.DockerClient, bridge: Bridge) -> list[str]:
    """Remove the bridge and the table; return what was removed. Containers must be gone before.

    Raises: StepFailed when a container still hangs on the bridge.
    """
    removed = []
    if _inspect(client, bridge.name) is not None:
        _remove_bridge(client, bridge)
        removed.append(f"network {bridge.name}")
    # The table last: without it the bridge would be open.
    with _translated():
        if listed(bridge) is not None:
            nft("delete", "table", "inet", bridge.name)
            removed.append(f"nft table {bridge.name}")
    return removed


def differences(found: Mapping[str, Any], bridge: Bridge) -> list[str]:
    """What the engine's inspection of a network shows to be other than ours; empty when it is."""
    options: Mapping[str, str] = found.get("Options") or {}
    pools = (found.get("IPAM") or {}).get("Config") or []
    facts = {
        "driver": (found.get("Driver"), "bridge"),
        "internal": (found.get("Internal"), True),
        "IPv6": (bool(found.get("EnableIPv6")), False),
        "subnets": ([pool.get("Subnet") for pool in pools], [str(bridge.subnet)]),
        "gateways": ([pool.get("Gateway") for pool in pools], [str(bridge.gateway)]),
        "interface": (options.get("com.docker.network.bridge.name"), bridge.interface),
        "label": ((found.get("Labels") or {}).get(LABEL), bridge.name),
        **{key.rpartition(".")[2]: (options.get(key), value) for key, value in OPTIONS.items()},
    }
    return [
        f"{what} is {found_value}, not {wanted}"
        for what, (found_value, wanted) in facts.items()
        if found_value != wanted
    ]


def require_bridge_netfilter(switch: Path) -> None:
    """Raises: StepFailed unless bridged packets pass the packet filter (else siblings talk)."""
    why = "the kernel module br_netfilter is not loaded"
    if switch.exists():
        if switch.read_text().strip() == "1":
            return
        why = f"{switch} is off"
    raise StepFailed(
        "Sandboxes can't be kept from each other",
        why=why,
        what_to_do="Run: modprobe br_netfilter; sysctl -w net.bridge.bridge-nf-call-iptables=1",
    )


def running_addresses(client: docker.DockerClient, bridge: Bridge) -> set[IPv4Address]:
    """Addresses of the installation's running sandboxes, as the engine knows them."""
    addresses = set()
    for found in client.api.containers(filters={"label": f"{SANDBOX_LABEL}={bridge.name}"}):
        networks = (found.get("NetworkSettings") or {}).get("Networks") or {}
        address = (networks.get(bridge.name) or {}).get("IPAddress")
        if address:
            addresses.add(IPv4Address(address))
    return addresses


def _ensure_bridge(client: docker.DockerClient, bridge: Bridge) -> bool:
    found = _inspect(client, bridge.name)
    if found is not None:
        wrong = differences(found, bridge)
        if not wrong:
            return False
        if found.get("Containers"):
            raise StepFailed(
                f"The sandbox network {bridge.name} is not as it must be",
                why="; ".join(wrong),
                what_to_do="It is in use: run `sandgate down`, then `sandgate up`.",
            )
        _remove_bridge(client, bridge)
    _create_bridge(client, bridge)
    wrong = differences(_inspect(client, bridge.name) or {}, bridge)
    if wrong:
        raise StepFailed(
            f"The engine made the sandbox network {bridge.name} other than asked",
            why="; ".join(wrong),
        )
    return True


def _create_bridge(client: docker.DockerClient, bridge: Bridge) -> None:
    pool = IPAMPool(subnet=str(bridge.subnet), gateway=str(bridge.gateway))
    try:
        client.api.create_network(
            bridge.name,
            driver="bridge",
            options={**OPTIONS, "com.docker.network.bridge.name": bridge.interface},
            ipam=IPAMConfig(pool_configs=[pool]),
            check_duplicate=True,
            internal=True,
            enable_ipv6=False,
            labels={LABEL: bridge.name},
        )
    except (APIError, DockerException, OSError) as error:
        raise StepFailed(
            f"The sandbox network {bridge.name} could not be made",
            why=getattr(error, "explanation", None) or str(error),
            what_to_do=f"Is {bridge.subnet} used by something else on this machine?",
        ) from error


def _remove_bridge(client: docker.DockerClient, bridge: Bridge) -> None:
    try:
        client.api.remove_network(bridge.name)
    except NotFound:
        return
    except (APIError, DockerException, OSError) as error:
        raise StepFailed(
            f"The sandbox network {bridge.name} could not be removed",
            why=getattr(error, "explanation", None) or str(error),
            what_to_do="Remove the containers that hang on it, then run the same command again.",
        ) from error


def _inspect(client: docker.DockerClient, name: str) -> Mapping[str, Any] | None:
    try:
        found: Mapping[str, Any] = client.api.inspect_network(name)
    except NotFound:
        return None
    except (DockerException, OSError) as error:
        raise StepFailed("The engine does not answer about networks", why=str(error)) from error
    return found


def _ensure_table(client: docker.DockerClient, bridge: Bridge) -> bool:
    with _translated():
        found = listed(bridge)
        if not wrong_with(found, bridge):
            return False  # a reload could lose an address that is being registered right now
        known = running_addresses(client, bridge)
        if found is not None:
            known &= registered_in(found, bridge)
        nft("-f", "-", stdin=table_text(bridge, known, counted_on(found)))
        wrong = wrong_with(listed(bridge), bridge)
    if wrong:
        raise StepFailed(
            f"The kernel holds the nft table {bridge.name} other than it was loaded",
            why="; ".join(wrong),
        )
    return True


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except Unavailable as error:
        raise StepFailed(
            "The sandbox network can't be closed",
            why=str(error),
            what_to_do="It needs root, the program nft and a kernel with nf_tables.",
        ) from error
