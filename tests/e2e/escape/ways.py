"""Every way out of a sandbox that the mole tries: how (see `probing`), where to, which port."""

import fcntl
import socket
import struct
from pathlib import Path

from orchestrator.stack.installation import ENTRANCE_PORT, Installation
from tests.e2e.escape.agent import EXECD

SIOCGIFADDR = 0x8915
SERVICES = ("runner", "pocketbase", "opensandbox", "polarion", "model", "githost")
Way = tuple[str, str, int]


def host_ways(here: Installation, port: int) -> dict[str, Way]:
    """Ways to the host itself, by each of its addresses."""
    addresses = {name: address_of(name) for name in ("docker0", default_interface())}
    addresses = {"gateway": here.gateway, **{k: a for k, a in addresses.items() if a}}
    ways: dict[str, Way] = {"the door": ("tcp", here.gateway, ENTRANCE_PORT)}
    for name, address in addresses.items():
        ways[f"a listener by {name}"] = ("tcp", address, port)
        ways[f"a listener by {name}, udp"] = ("udp", address, port)
        for service in SERVICES:
            ways[f"{service} by {name}"] = ("tcp", address, getattr(here.ports, service))
    for service in SERVICES:
        ways[f"{service} by loopback"] = ("tcp", "127.0.0.1", getattr(here.ports, service))
    ways["ping the gateway"] = ("ping", here.gateway, 0)
    for address in ipv6_addresses(here.bridge):
        ways[f"a listener by IPv6 {address}"] = ("tcp", address, port)
    return ways


def sibling_ways(neighbour: str, broadcast: str) -> dict[str, Way]:
    """Ways to another sandbox on the same bridge."""
    return {
        "the neighbour's execd": ("tcp", neighbour, EXECD),
        "the neighbour's server": ("tcp", neighbour, 8000),
        "the neighbour, udp": ("udp", neighbour, 8000),
        "the neighbour, broadcast": ("udp", broadcast, 8000),
        "ping the neighbour": ("ping", neighbour, 0),
        "be the neighbour": ("spoof", neighbour, ENTRANCE_PORT),
    }


def outside_ways(here: Installation) -> dict[str, Way]:
    """Ways off the machine, and to names."""
    resolvers = [
        line.split()[1]
        for line in Path("/etc/resolv.conf").read_text().splitlines()
        if line.startswith("nameserver") and ":" not in line
    ]
    servers = {"127.0.0.11", "127.0.0.1", here.gateway, "203.0.113.53", *resolvers}
    return {
        "an outside address": ("tcp", "203.0.113.7", 443),
        "an outside address, udp": ("udp", "203.0.113.7", 443),
        "ping outside": ("ping", "203.0.113.7", 0),
        "the metadata address": ("tcp", "169.254.169.254", 80),
        "an outside IPv6 address": ("tcp", "2001:db8::7", 443),
        "the metadata address, IPv6": ("tcp", "fd00:ec2::254", 80),
        "a name": ("name", "secret.example.com", 443),
        **{f"DNS at {server}": ("udp", server, 53) for server in sorted(servers)},
        **{f"DNS at {server}, tcp": ("dns", server, 53) for server in sorted(servers)},
    }


def address_of(interface: str) -> str:
    """The interface's IPv4 address; empty when it has none."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        try:
            name = struct.pack("256s", interface.encode())
            return socket.inet_ntoa(fcntl.ioctl(s.fileno(), SIOCGIFADDR, name)[20:24])
        except OSError:
            return ""


def default_interface() -> str:
    """The interface of the default route; `lo` when there is none."""
    rows = [line.split() for line in Path("/proc/net/route").read_text().splitlines()[1:]]
    return next((row[0] for row in rows if row[1] == "00000000"), "lo")


def ipv6_addresses(bridge: str) -> list[str]:
    """The host's IPv6 addresses that a sandbox could try; the bridge's own with its own scope."""
    found = []
    for line in Path("/proc/net/if_inet6").read_text().splitlines():
        raw, *_, interface = line.split()
        address = socket.inet_ntop(socket.AF_INET6, bytes.fromhex(raw))
        if interface == bridge:
            found.append(f"{address}%{bridge}")
        elif not address.startswith(("fe80", "::1")):
            found.append(address)
    return found
