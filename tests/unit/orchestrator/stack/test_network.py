"""A network that is other than ours is found out by what the engine says of it."""

from collections.abc import Callable
from ipaddress import IPv4Address, IPv4Network
from pathlib import Path
from typing import Any

import pytest

from orchestrator.adapters.firewall.table import Bridge
from orchestrator.stack.network import differences, require_bridge_netfilter
from orchestrator.stack.steps import StepFailed

BRIDGE = Bridge(
    name="sgabc123",
    interface="sgabc123b0",
    subnet=IPv4Network("10.77.3.0/24"),
    gateway=IPv4Address("10.77.3.1"),
    doors=(8080, 8081),
)


def network() -> dict[str, Any]:
    return {
        "Driver": "bridge",
        "Internal": True,
        "EnableIPv6": False,
        "IPAM": {"Config": [{"Subnet": "10.77.3.0/24", "Gateway": "10.77.3.1"}]},
        "Labels": {"sandgate.installation": "sgabc123"},
        "Options": {
            "com.docker.network.bridge.name": "sgabc123b0",
            "com.docker.network.bridge.enable_icc": "false",
            "com.docker.network.bridge.enable_ip_masquerade": "false",
        },
    }


def test_our_network_has_no_difference() -> None:
    assert differences(network(), BRIDGE) == []


@pytest.mark.parametrize(
    ("change", "said"),
    [
        pytest.param(lambda n: n.update(Internal=False), "internal", id="a way out"),
        pytest.param(lambda n: n.update(EnableIPv6=True), "IPv6", id="IPv6"),
        pytest.param(lambda n: n.update(Driver="macvlan"), "driver", id="another driver"),
        pytest.param(lambda n: n.update(Options=None), "enable_icc", id="siblings may talk"),
        pytest.param(
            lambda n: n["IPAM"]["Config"].append({"Subnet": "fd01::/64"}), "subnets", id="a second"
        ),
        pytest.param(lambda n: n.update(Labels={}), "label", id="somebody else's"),
    ],
)
def test_a_difference_is_named(change: Callable[[dict[str, Any]], object], said: str) -> None:
    found = network()
    change(found)
    assert any(line.startswith(said) for line in differences(found, BRIDGE))


def test_nothing_found_is_all_differences() -> None:
    assert differences({}, BRIDGE)


def test_bridged_packets_must_pass_the_filter(tmp_path: Path) -> None:
    switch = tmp_path / "bridge-nf-call-iptables"
    with pytest.raises(StepFailed, match="br_netfilter is not loaded"):
        require_bridge_netfilter(switch)
    switch.write_text("0\n")
    with pytest.raises(StepFailed, match="is off"):
        require_bridge_netfilter(switch)
    switch.write_text("1\n")
    require_bridge_netfilter(switch)
