import socket
from ipaddress import IPv4Network
from pathlib import Path

import pytest

from orchestrator.stack.addresses import (
    free_ports,
    free_subnet,
    port_holder,
    require_free_port,
    taken_networks,
)
from orchestrator.stack.steps import StepFailed


def test_the_same_seed_finds_the_same_subnet_in_10() -> None:
    found = free_subnet(12345, taken=[])
    assert found == free_subnet(12345, taken=[])
    assert found.prefixlen == 24
    assert found.subnet_of(IPv4Network("10.0.0.0/8"))


def test_a_taken_subnet_is_passed_over() -> None:
    first = free_subnet(7, taken=[])
    assert not free_subnet(7, taken=[first.supernet(4)]).overlaps(first.supernet(4))


def test_where_all_of_10_is_routed_another_private_range_serves() -> None:
    found = free_subnet(7, taken=[IPv4Network("10.0.0.0/8")])
    assert found.subnet_of(IPv4Network("172.16.0.0/12"))


def test_a_machine_without_a_free_subnet_says_so() -> None:
    with pytest.raises(StepFailed, match="No private subnet is free"):
        free_subnet(7, taken=[IPv4Network("0.0.0.0/0")])


def test_routes_and_name_servers_are_taken_and_the_default_route_is_not(tmp_path: Path) -> None:
    routes = tmp_path / "route"
    routes.write_text(
        "Iface Destination Gateway Flags RefCnt Use Metric Mask MTU Window IRTT\n"
        "eth0 00000000 010200C0 0003 0 0 0 00000000 0 0 0\n"
        "docker0 000011AC 00000000 0001 0 0 0 0000FFFF 0 0 0\n"
    )
    resolv = tmp_path / "resolv.conf"
    resolv.write_text("nameserver 10.1.2.3\nnameserver fe80::1\noptions timeout:1\n")
    assert taken_networks(routes, resolv) == [
        IPv4Network("172.17.0.0/16"),
        IPv4Network("10.1.2.3/32"),
    ]


def test_ports_in_use_are_passed_over() -> None:
    first = free_ports(1, 3, free=lambda _: True)
    assert len(set(first)) == 3
    assert first[0] not in free_ports(1, 3, free=lambda port: port != first[0])


def test_a_port_in_use_is_told_with_its_holder() -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        held.listen()
        port = held.getsockname()[1]
        holder = port_holder(port)
        assert holder is not None
        assert "(pid " in holder
        with pytest.raises(StepFailed, match=f"PocketBase can't listen on 127.0.0.1:{port}: "):
            require_free_port("PocketBase", port)


def test_a_free_port_may_be_listened_on() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    require_free_port("PocketBase", port)
    assert port_holder(port) is None
