"""Ways out by the network [pure]."""

from collections.abc import Sequence
from ipaddress import IPv4Address

from orchestrator.posture.probe import Area, Arguments, Probe, Stage, Wall

EXECD = 44772
MOST_PORTS, MOST_ADDRESSES = 1024, 16
"""A sandbox has no more than 4096 files open at a time."""
METADATA = ("169.254.169.254", "169.254.170.2", "100.100.100.200")
METADATA6 = "fd00:ec2::254"
OUTSIDE6 = "2001:db8::7"
MULTICAST = (("224.0.0.251", 5353), ("239.255.255.250", 1900), ("224.0.0.252", 5355))


def _gateway(stage: Stage) -> Arguments:
    doors = {stage.place.door, stage.place.egress}
    return [(stage.place.gateway, port) for port in _ports(stage, MOST_PORTS) if port not in doors]


def _elsewhere(stage: Stage) -> Arguments | None:
    addresses = stage.place.addresses[:MOST_ADDRESSES]
    ports = _ports(stage, MOST_PORTS // MOST_ADDRESSES)
    return [(host, port) for host in addresses for port in ports] or None


def _ports(stage: Stage, most: int) -> Sequence[int]:
    """Ports that somebody listens on, the canary's first."""
    return list(dict.fromkeys((stage.place.canary, *stage.place.listening)))[:most]


def _own(stage: Stage) -> Arguments | None:
    return [("127.0.0.1", port) for port in stage.place.own_ports] or None


def _written(form: str) -> Probe:
    return Probe(
        f"gateway-{form}", Area.NETWORK, Wall.FIREWALL,
        f"The gateway's other ports are closed when its address is written {_WORDS[form]}.",
        "tcp", lambda s: [(written(s.place.gateway, form), s.place.canary)], canary=0,
    )  # fmt: skip


_WORDS = {
    "decimal": "as one decimal number",
    "octal": "in octal",
    "hex": "in hexadecimal",
    "short": "with its last parts as one number",
    "mapped": "as IPv6",
}


def written(address: str, form: str) -> str:
    """An IPv4 address in another form that programs take for the same."""
    number, parts = int(IPv4Address(address)), address.split(".")
    return {
        "decimal": str(number),
        "octal": ".".join(f"0{int(part):o}" for part in parts),
        "hex": f"0x{number:08x}",
        "short": f"{parts[0]}.{parts[1]}.{number & 0xFFFF}",
        "mapped": f"::ffff:{address}",
    }[form]


_N, _F = Area.NETWORK, Wall.FIREWALL
NETWORK: tuple[Probe, ...] = (
    Probe(
        "door-open", _N, _F,
        "A sandbox reaches the entrance; else the other tries would show nothing.",
        "tcp", lambda s: [(s.place.gateway, s.place.door)], ("reached",),
    ),
    Probe(
        "second-door-shut", _N, _F,
        "Without an egress proxy nobody answers at its port.",
        "tcp", lambda s: [(s.place.gateway, s.place.egress)], ("refused", "closed"),
        second_door=False,
    ),
    Probe(
        "second-door-open", _N, _F,
        "A sandbox reaches the egress proxy; else its tries would show nothing.",
        "tcp", lambda s: [(s.place.gateway, s.place.egress)], ("reached",), second_door=True,
    ),
    Probe(
        "gateway-ports", _N, _F,
        "No other port of the gateway answers, whatever of the host listens there.",
        "tcp", _gateway, canary=0,
    ),
    Probe(
        "gateway-udp", _N, _F, "The gateway answers no datagram.",
        "udp", lambda s: [(s.place.gateway, s.place.canary), (s.place.gateway, 123)], canary=0,
    ),
    Probe(
        "gateway-ping", _N, _F, "The gateway answers no ping.",
        "ping", lambda s: [s.place.gateway],
    ),
    *map(_written, _WORDS),
    Probe(
        "host-ports", _N, _F, "The host answers at none of its other addresses.",
        "tcp", _elsewhere, canary=0,
    ),
    Probe(
        "host-udp", _N, _F, "No datagram reaches the host's other addresses.",
        "udp", lambda s: [(host, s.place.canary) for host in s.place.addresses] or None, canary=0,
    ),
    Probe(
        "host-ipv6", _N, _F, "The host answers at no IPv6 address.",
        "tcp", lambda s: [(host, s.place.canary) for host in s.place.addresses6] or None, canary=0,
    ),
    Probe(
        "own-loopback", _N, Wall.BRIDGE,
        "The installation's services are not on the sandbox's own loopback.",
        "tcp", _own, ("refused",), gvisor=("refused", "closed"),
    ),
    Probe(
        "outside-tcp", _N, _F, "No connection leaves the machine.",
        "tcp", lambda s: [(s.place.outside, port) for port in (22, 80, 443, 8443)], canary=0,
    ),
    Probe(
        "outside-udp", _N, _F, "No datagram leaves the machine.",
        "udp", lambda s: [(s.place.outside, port) for port in (123, 443, 4500)], canary=0,
    ),
    Probe("outside-ping", _N, _F, "No ping leaves the machine.", "ping", lambda s: [s.place.outside]),
    Probe(
        "outside-ipv6", _N, Wall.BRIDGE, "Nothing leaves by IPv6.",
        "tcp", lambda _: [(OUTSIDE6, 443)],
    ),
    Probe(
        "metadata", _N, _F, "The metadata services of clouds are out of reach.",
        "tcp", lambda _: [(host, 80) for host in METADATA],
    ),
    Probe(
        "metadata-ipv6", _N, Wall.BRIDGE, "So are those with an IPv6 address.",
        "tcp", lambda _: [(METADATA6, 80)],
    ),
    Probe(
        "sibling-execd", _N, Wall.BRIDGE, "A sandbox doesn't reach another one's execd.",
        "tcp", lambda s: [(s.place.sibling, EXECD)],
    ),
    Probe(
        "sibling-ports", _N, Wall.BRIDGE, "A sandbox reaches no port of another one.",
        "tcp", lambda s: [(s.place.sibling, port) for port in (22, 80, 3000, 8000, 8080)],
    ),
    Probe(
        "sibling-udp", _N, Wall.BRIDGE, "A sandbox reaches another one by no datagram.",
        "udp", lambda s: [(s.place.sibling, 53), (s.place.sibling, 8000)],
    ),
    Probe(
        "sibling-ping", _N, Wall.BRIDGE, "A sandbox can't ping another one.",
        "ping", lambda s: [s.place.sibling],
    ),
    Probe(
        "broadcast", _N, Wall.BRIDGE, "Nobody answers a broadcast or a multicast.",
        "udp", lambda s: [(s.place.broadcast, s.place.canary), *MULTICAST], canary=0,
    ),
    Probe(
        "sibling-address", _N, Wall.CAPABILITIES,
        "A sandbox can't speak to the door from another one's address.",
        "spoof", lambda s: [s.place.sibling, s.place.gateway, s.place.door],
    ),
    Probe(
        "ipv6-addresses", _N, Wall.BRIDGE, "A sandbox has no IPv6 address but its loopback's.",
        "ipv6_addresses", expected=("none",),
    ),
    Probe(
        "abstract-sockets", _N, Wall.BRIDGE,
        "No abstract Unix socket of the host is seen, which no folder's rights protect.",
        "unix_names", expected=("none",),
    ),
)  # fmt: skip
