"""The posture probe: green on a whole set-up, red when the walls are down."""

import pytest

from orchestrator.adapters.firewall.nft import nft
from orchestrator.adapters.firewall.probe import Finding, probe
from orchestrator.adapters.firewall.probe_containers import LABEL, PROBE_LABEL
from orchestrator.adapters.firewall.table import Bridge
from orchestrator.stack import network
from orchestrator.stack.opensandbox import seccomp_profile
from tests.e2e.sandbox.lab import Lab

pytestmark = pytest.mark.docker

NOWHERE = ("198.51.100.7", 443)
"""Documentation's address: these tests send nothing to anybody."""


def run(lab: Lab) -> tuple[Finding, ...]:
    return probe(
        lab.client,
        lab.bridge,
        image=lab.images.sandbox,
        seccomp=seccomp_profile(),
        outside=NOWHERE,
    )


def leftovers(lab: Lab, bridge: Bridge) -> list[str]:
    labels = [f"{LABEL}={bridge.name}", PROBE_LABEL]
    return [row["Id"] for row in lab.client.api.containers(all=True, filters={"label": labels})]


def test_a_whole_set_up_is_green(lab: Lab) -> None:
    """CASE-18, CASE-19, CASE-21."""
    assert [finding for finding in run(lab) if not finding.ok] == []
    assert leftovers(lab, lab.bridge) == []


def test_without_the_firewall_the_host_is_open_and_the_probe_says_so(lab: Lab) -> None:
    """CASE-20."""
    nft("flush", "table", "inet", lab.bridge.name)
    try:
        failed = {finding.check: finding.found for finding in run(lab) if not finding.ok}
    finally:
        network.ensure(lab.client, lab.bridge)
    assert failed.pop("door, address not registered") == "reached"
    assert any(name.startswith("another port of the gateway") for name in failed)
    assert leftovers(lab, lab.bridge) == []
