"""The posture probe: what does a sandbox truly reach? Anything but the doors, and no run starts.

A container like a sandbox (same image, network, user, capabilities, system calls) tries every way out
that we know; a second one is its sibling, and stands on an address that was never registered. What
was found is judged by a table (`evaluate`): a check that said nothing has failed.
"""

import ipaddress
import json
import socket
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import docker
from docker.errors import DockerException

from entrance.errors import Unavailable
from orchestrator.adapters.firewall.nft import nft
from orchestrator.adapters.firewall.probe_containers import USER, ProbePair
from orchestrator.adapters.firewall.table import EXECD_PORT, Bridge, element

OUTSIDE = ("1.1.1.1", 443)
METADATA = ("169.254.169.254", 80)
CLOSED = "closed"
REACHED = "reached"
REFUSED = "EPERM"


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that a sandbox tries. `how` is the script's word for it, with its arguments."""

    name: str
    how: str
    arguments: tuple[str | int, ...] = ()
    expected: str = CLOSED
    who: str = "sandbox"
    """`sandbox`: the registered one; `sibling`: the one that was never registered."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What a check found. `found` is `reached`, `closed`, an errno's name, or a value."""

    check: str
    expected: str
    found: str

    @property
    def ok(self) -> bool:
        return self.found == self.expected


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the host has that a sandbox must not reach."""

    addresses: tuple[str, ...]
    """The host's other addresses, IPv4 and IPv6."""
    resolvers: tuple[str, ...]


def checks_for(
    bridge: Bridge, around: Surroundings, *, sibling: str, port: int, outside: tuple[str, int]
) -> tuple[Check, ...]:
    """All checks. `port` listens on every address of the host, `sibling` on execd's port and 8080."""
    gateway, door = str(bridge.gateway), bridge.doors[0]
    others = [
        Check(f"host {address}:{port}", "tcp", (address, port)) for address in around.addresses
    ]
    names = [
        Check(f"names at {server}", "dns", (server,))
        for server in dict.fromkeys(("127.0.0.11", gateway, *around.resolvers))
    ]
    return (
        Check(f"door {gateway}:{door}", "tcp", (gateway, door), expected=REACHED),
        Check("door, address not registered", "tcp", (gateway, door), who="sibling"),
        Check(f"another port of the gateway ({port})", "tcp", (gateway, port)),
        *others,
        Check("sibling's execd", "tcp", (sibling, EXECD_PORT)),
        Check("sibling's port 8080", "tcp", (sibling, 8080)),
        *names,
        Check(f"outside {outside[0]}", "tcp", outside),
        Check("metadata service", "tcp", METADATA),
        Check("IPv6 addresses", "ipv6", expected="none"),
        Check("socket AF_VSOCK", "socket", (40, 1, 0), expected=REFUSED),
        Check("socket AF_PACKET", "socket", (17, 3, 0), expected=REFUSED),
        Check("socket AF_ALG", "socket", (38, 5, 0), expected=REFUSED),
        Check("raw socket", "socket", (2, 3, 1), expected=REFUSED),
        Check("io_uring", "syscall", (425, 1, 0), expected=REFUSED),
        Check("capabilities", "status", ("CapEff", "CapBnd"), expected="0"),
        Check("no new privileges", "status", ("NoNewPrivs",), expected="1"),
        Check("seccomp filter", "status", ("Seccomp",), expected="2"),
        Check("user", "uid", expected=USER.partition(":")[0]),
    )


def evaluate(
    checks: Sequence[Check], found: Mapping[str, Mapping[str, str]]
) -> tuple[Finding, ...]:
    """Judge what `sandbox` and `sibling` found, by check's name. What is missing is not ok."""
    return tuple(
        Finding(
            check.name, check.expected, found.get(check.who, {}).get(check.name, "nothing was said")
        )
        for check in checks
    )


def probe(
    client: docker.DockerClient,
    bridge: Bridge,
    *,
    image: str,
    seccomp: str,
    outside: tuple[str, int] = OUTSIDE,
) -> tuple[Finding, ...]:
    """Run the probe; takes a second or two. Network and table must have been made.

    A door at which nobody listens yet is opened for the time of the probe.
    Raises: Unavailable when the probe itself can't run, and then no run may start.
    """
    sandbox, sibling = map(str, bridge.probes)
    with ExitStack() as stack:
        port = stack.enter_context(_listener("", 0))
        stack.enter_context(_door(str(bridge.gateway), bridge.doors[0]))
        checks = checks_for(
            bridge, surroundings(bridge), sibling=sibling, port=port, outside=outside
        )
        stack.enter_context(_registered(bridge, sandbox))
        addresses = {"sibling": sibling, "sandbox": sandbox}
        orders = {
            who: [
                {"name": check.name, "how": check.how, "arguments": check.arguments}
                for check in checks
                if check.who == who
            ]
            for who in addresses
        }
        try:
            found = ProbePair(client, bridge, image, seccomp).run(orders, addresses)
        except (DockerException, OSError) as error:
            why = getattr(error, "explanation", None) or error
            raise Unavailable(f"the posture probe could not run: {why}") from error
    return evaluate(checks, found)


def surroundings(bridge: Bridge) -> Surroundings:
    """The host's other addresses and its resolvers, now."""
    listed = json.loads(
        subprocess.run(
            ["ip", "-j", "addr"], capture_output=True, check=True, text=True, timeout=10
        ).stdout
    )
    addresses = [
        info["local"]
        for interface in listed
        for info in interface["addr_info"]
        if info["local"] != str(bridge.gateway) and info.get("scope") == "global"
    ]
    return Surroundings(tuple(addresses), resolvers_in(Path("/etc/resolv.conf").read_text()))


def resolvers_in(resolv_conf: str) -> tuple[str, ...]:
    """The IPv4 name servers of a resolv.conf that aren't on loopback."""
    found = []
    for line in resolv_conf.splitlines():
        words = line.split()
        if len(words) > 1 and words[0] == "nameserver":
            with suppress(ValueError):
                address = ipaddress.IPv4Address(words[1])
                if not address.is_loopback:
                    found.append(str(address))
    return tuple(found)


@contextmanager
def _registered(bridge: Bridge, address: str) -> Iterator[None]:
    entry = element(bridge, ipaddress.IPv4Address(address))
    change = f"element inet {bridge.name} bind {{ {entry} }}"
    with suppress(Unavailable):  # no table: the probe is there to say so
        nft("-f", "-", stdin=f"add {change}\n")
    try:
        yield
    finally:
        with suppress(Unavailable):
            nft("-f", "-", stdin=f"add {change}\ndelete {change}\n")


@contextmanager
def _listener(host: str, port: int) -> Iterator[int]:
    with socket.create_server((host, port), backlog=16) as server:
        yield server.getsockname()[1]


@contextmanager
def _door(host: str, port: int) -> Iterator[None]:
    """Listen at the door, unless somebody does already."""
    with ExitStack() as stack:
        with suppress(OSError):
            stack.enter_context(_listener(host, port))
        yield
