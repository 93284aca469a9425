"""Only public addresses are dialled, whatever form another one takes."""

from ipaddress import IPv4Address, IPv4Network, IPv6Address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.addresses import NAT64, network, undialable

OWN = (network("10.231.0.0/24"), network("9.9.9.9"))
PRIVATE = st.sampled_from(
    [
        "127.0.0.1",
        "10.1.2.3",
        "172.16.0.1",
        "192.168.1.1",
        "169.254.169.254",
        "100.64.0.1",
        "0.0.0.0",
        "224.0.0.1",
    ]
).map(IPv4Address)


@pytest.mark.parametrize(
    "address", ["8.8.8.8", "1.1.1.1", "2606:4700:4700::1111", "64:ff9b::808:808"]
)
def test_a_public_address_may_be_dialled(address: str) -> None:
    assert not undialable(address, refused=OWN)


@pytest.mark.parametrize(
    "address",
    [
        *(
            "127.0.0.1",
            "127.255.0.9",
            "0.0.0.0",
            "0.1.2.3",
            "::1",
            "::",
            "localhost",
            "",
            "1.2.3.4.5",
        ),
        *(
            "10.0.0.1",
            "172.31.255.255",
            "192.168.0.1",
            "100.64.0.1",
            "fc00::1",
            "fd00::1",
            "fec0::1",
        ),
        *("169.254.1.1", "169.254.169.254", "fe80::1", "fe80::1%eth0", "2606:4700::1%eth0"),
        *("224.0.0.1", "239.1.1.1", "ff02::1", "240.0.0.1", "255.255.255.255"),
        *("168.63.129.16", "100.100.100.200", "192.0.0.192", "fd00:ec2::254"),
        *("198.18.0.1", "192.0.2.1", "198.51.100.1", "203.0.113.1", "2001:db8::1"),
        *("10.231.0.1", "9.9.9.9"),
        *(
            "::ffff:8.8.8.8",
            "::8.8.8.8",
            "::ffff:0:8.8.8.8",
            "2002:808:808::1",
            "64:ff9b:1::8.8.8.8",
        ),
        *("2001:0:808:808::1", "2606:4700::5efe:8.8.8.8", "2606:4700::200:5efe:8.8.8.8"),
    ],
)
def test_no_other_address_may(address: str) -> None:
    """CASE-10, CASE-15."""
    assert undialable(address, refused=OWN)


@given(PRIVATE)
def test_ipv6_opens_no_way_to_a_private_ipv4_address(inner: IPv4Address) -> None:
    number = int(inner)
    carriers = (
        0,
        0xFFFF << 32,
        0xFFFF << 48,
        int(NAT64.network_address),
        0x5EFE << 32 | 0x26064700 << 96,
    )
    for carrier in (*carriers, 0x2002 << 112 | number << 80, 0x2001 << 112 | (number ^ 0xFFFFFFFF)):
        assert undialable(str(IPv6Address(carrier | number)))


def test_a_rule_may_open_a_network_that_isnt_public() -> None:
    mirror = (network("10.5.0.0/16"), network("203.0.113.80"))
    assert not undialable("10.5.1.2", networks=mirror)
    assert not undialable("203.0.113.80", networks=mirror)
    assert undialable("203.0.113.81", networks=mirror)
    assert not undialable("64:ff9b::10.5.1.2", networks=mirror)


@pytest.mark.parametrize(
    "address",
    ["127.0.0.1", "169.254.169.254", "::1", "0.0.0.0", "224.0.0.1", "10.231.0.7", "::ffff:8.8.8.8"],
)
def test_no_rule_opens_what_is_never_dialled(address: str) -> None:
    everything = (network("0.0.0.0/0"), network("::/0"))
    assert undialable(address, refused=OWN, networks=everything)


def test_one_address_is_a_network() -> None:
    assert network("10.0.0.1") == IPv4Network("10.0.0.1/32")
    assert network("10.0.0.1/24") == IPv4Network("10.0.0.0/24")
