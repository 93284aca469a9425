"""Bridge and table: made once, checked, made again when wrong, removed without a trace."""

from collections.abc import Iterator
from dataclasses import replace

import docker
import pytest

from orchestrator.adapters.firewall.admission import Firewall
from orchestrator.adapters.firewall.nft import nft
from orchestrator.adapters.firewall.table import Bridge
from orchestrator.stack import network
from orchestrator.stack.steps import StepFailed
from tests.e2e.sandbox.lab import Lab, new_bridge

pytestmark = pytest.mark.docker


@pytest.fixture(scope="module")
def client() -> Iterator[docker.DockerClient]:
    client = docker.from_env()
    yield client
    client.close()


@pytest.fixture
def bridge(client: docker.DockerClient) -> Iterator[Bridge]:
    bridge = new_bridge()
    yield bridge
    network.remove(client, bridge)


async def test_it_is_made_once_and_then_left_alone(
    client: docker.DockerClient, bridge: Bridge
) -> None:
    assert network.ensure(client, bridge)
    await Firewall(bridge).register(str(bridge.subnet[9]))
    assert not network.ensure(client, bridge)
    assert await Firewall(bridge).registered() == {str(bridge.subnet[9])}


def test_it_is_removed_without_a_trace_and_removing_it_twice_is_fine(
    client: docker.DockerClient, bridge: Bridge
) -> None:
    network.ensure(client, bridge)
    assert network.remove(client, bridge) == [
        f"network {bridge.name}",
        f"nft table {bridge.name}",
    ]
    assert network.remove(client, bridge) == []
    assert bridge.name not in nft("list", "tables")


def test_a_wrong_network_that_nobody_uses_is_made_again(
    client: docker.DockerClient, bridge: Bridge
) -> None:
    client.networks.create(bridge.name, internal=False)
    assert network.ensure(client, bridge)
    assert network.differences(client.api.inspect_network(bridge.name), bridge) == []


def test_a_wrong_network_that_is_in_use_is_refused_in_a_sentence(
    lab: Lab, client: docker.DockerClient, bridge: Bridge
) -> None:
    made = client.networks.create(bridge.name, internal=False)
    user = client.containers.create(lab.images.sandbox, ["sleep", "60"], network=bridge.name)
    try:
        user.start()
        with pytest.raises(StepFailed, match="in use") as refused:
            network.ensure(client, bridge)
        assert "internal is False, not True" in refused.value.why
    finally:
        user.remove(force=True)
        made.remove()


def test_a_subnet_that_is_taken_is_said(client: docker.DockerClient, bridge: Bridge) -> None:
    network.ensure(client, bridge)
    twin = replace(bridge, name=f"{bridge.name}x", interface=f"{bridge.name}x0")
    with pytest.raises(StepFailed, match=str(bridge.subnet)):
        network.ensure(client, twin)


@pytest.mark.parametrize("damage", ["flush", "delete"])
async def test_a_damaged_table_is_made_again(
    client: docker.DockerClient, bridge: Bridge, damage: str
) -> None:
    """One that still says what it has counted goes on counting."""
    network.ensure(client, bridge)
    firewall = Firewall(bridge)
    counted = await firewall.dropped()
    nft(damage, "table", "inet", bridge.name)
    assert network.ensure(client, bridge)
    await firewall.check()
    went_on = (await firewall.dropped()).generation == counted.generation
    assert went_on == (damage == "flush")


async def test_a_registration_is_idempotent_in_both_directions(
    client: docker.DockerClient, bridge: Bridge
) -> None:
    network.ensure(client, bridge)
    firewall, address = Firewall(bridge), str(bridge.subnet[5])
    await firewall.register(address)
    await firewall.register(address)
    assert await firewall.registered() == {address}
    await firewall.unregister(address)
    await firewall.unregister(address)
    assert await firewall.registered() == set()
