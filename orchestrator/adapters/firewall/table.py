"""The nft table of a sandbox network: its rules, its text, and what is wrong with one found [pure].

RULES is the whole of what a sandbox may reach and who may reach it; order within a chain matters.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import AddressValueError, IPv4Address, IPv4Network
from typing import Any

from entrance.errors import Forbidden, Malformed

EXECD_PORT = 44772
PRIORITY = -10
"""Before the engine's own chains, which run at 0 and may say anything."""

HOOKS: Mapping[str, str] = {
    "input": "type filter hook input priority -10; policy accept;",
    "forward": "type filter hook forward priority -10; policy accept;",
    "output": "type filter hook output priority -10; policy accept;",
}


@dataclass(frozen=True, slots=True)
class Bridge:
    """The sandbox network of one installation: `name` is also the nft table's."""

    name: str
    interface: str
    subnet: IPv4Network
    gateway: IPv4Address
    doors: tuple[int, ...]
    """TCP ports of the gateway address that a sandbox may open: entrance, egress proxy."""

    @property
    def probes(self) -> tuple[IPv4Address, IPv4Address]:
        """The last two addresses: the posture probe's, which no sandbox is given."""
        last = self.subnet.broadcast_address
        return last - 1, last - 2

    def member(self, address: str) -> IPv4Address:
        """The address, checked. Raises: Forbidden when it isn't one of a sandbox here."""
        try:
            parsed = IPv4Address(address)
        except AddressValueError as error:
            raise Forbidden(f"{address!r} is no IPv4 address of a sandbox") from error
        edges = (self.gateway, self.subnet.network_address, self.subnet.broadcast_address)
        if parsed not in self.subnet or parsed in edges:
            raise Forbidden(f"{address} is not a sandbox address of {self.subnet}")
        return parsed


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule of a chain. `name` is kept in the table as its comment, and checked for."""

    chain: str
    name: str
    text: str


RULES: tuple[Rule, ...] = (
    Rule("input", "from the bridge", 'iifname "{interface}" jump from_sandbox'),
    Rule("from_sandbox", "no IPv6", "meta nfproto ipv6 counter drop"),
    # Before the address check: else an unregistered sandbox hangs the runner's calls to execd.
    Rule(
        "from_sandbox",
        "execd answers",
        "tcp sport {execd} ct state established ct direction reply accept",
    ),
    # Taking an address out cuts its live connections at once: before `established`.
    Rule("from_sandbox", "registered only", "iifname . ip saddr != @bind counter drop"),
    Rule("from_sandbox", "replies", "ct state established accept"),
    Rule(
        "from_sandbox",
        "the doors",
        "ip daddr . tcp dport @doors tcp flags syn / fin,syn,rst,ack ct state new counter accept",
    ),
    Rule("from_sandbox", "nothing else", "counter drop"),
    Rule("forward", "nowhere through us", 'iifname "{interface}" counter drop'),
    Rule("forward", "nobody through us", 'oifname "{interface}" counter drop'),
    Rule("output", "answers", 'oifname "{interface}" ct state established,related accept'),
    Rule(
        "output",
        "runner to execd",
        'oifname "{interface}" ip saddr {gateway} ip daddr {subnet} tcp dport {execd}'
        " ct state new counter accept",
    ),
    Rule("output", "the host opens nothing", 'oifname "{interface}" counter drop'),
)


def chains_of(bridge: Bridge) -> Mapping[str, list[tuple[str, str]]]:
    """The rules of each chain as (text, comment).

    The rule that brings the bridge in carries a fingerprint of them all in its comment, so that a
    table made by another version of this page is not taken for this one.
    """
    values = {
        "interface": bridge.interface,
        "gateway": bridge.gateway,
        "subnet": bridge.subnet,
        "execd": EXECD_PORT,
    }
    # from_sandbox first: a chain must exist before a rule jumps to it.
    chains: dict[str, list[tuple[str, str]]] = {
        chain: [(rule.text.format_map(values), rule.name) for rule in RULES if rule.chain == chain]
        for chain in ("from_sandbox", *HOOKS)
    }
    mark = hashlib.sha256(repr((chains, bridge.doors)).encode()).hexdigest()[:12]
    chains["input"] = [(text, f"{name}, rules {mark}") for text, name in chains["input"]]
    return chains


def table_text(bridge: Bridge, registered: Iterable[IPv4Address]) -> str:
    """The whole table as one nft transaction: what was there of it is replaced at once."""
    doors = ", ".join(f"{bridge.gateway} . {port}" for port in bridge.doors)
    bind = ", ".join(element(bridge, address) for address in sorted(registered))
    lines = [
        f"table inet {bridge.name}",
        f"delete table inet {bridge.name}",
        f"table inet {bridge.name} {{",
        f"  set bind {{ type ifname . ipv4_addr; {_elements(bind)}}}",
        f"  set doors {{ type ipv4_addr . inet_service; {_elements(doors)}}}",
    ]
    for chain, rules in chains_of(bridge).items():
        lines.append(f"  chain {chain} {{")
        if chain in HOOKS:
            lines.append(f"    {HOOKS[chain]}")
        lines += [f'    {text} comment "{comment}"' for text, comment in rules]
        lines.append("  }")
    return "\n".join([*lines, "}", ""])


def flaws(listing: Mapping[str, Any], bridge: Bridge) -> list[str]:
    """What `nft -j list table` shows to be wrong with the table; empty when it stands whole."""
    entries: Sequence[Mapping[str, Any]] = listing.get("nftables", ())
    chains = {e["chain"]["name"]: e["chain"] for e in entries if "chain" in e}
    rules = [(e["rule"]["chain"], e["rule"].get("comment", "")) for e in entries if "rule" in e]
    found: list[str] = []
    for hook in HOOKS:
        chain = chains.get(hook, {})
        if (chain.get("hook"), chain.get("prio")) != (hook, PRIORITY):
            found.append(f"chain {hook} is not hooked in at priority {PRIORITY}")
    for chain, wanted in chains_of(bridge).items():
        if [name for place, name in rules if place == chain] != [name for _, name in wanted]:
            found.append(f"chain {chain} does not hold exactly its rules")
    doors = {tuple(pair) for pair in _set_of(entries, "doors")}
    if doors != {(str(bridge.gateway), port) for port in bridge.doors}:
        found.append("set doors does not name exactly the doors")
    return found


def registered_in(listing: Mapping[str, Any], bridge: Bridge) -> frozenset[IPv4Address]:
    """The registered addresses in a listing of the table."""
    pairs = _set_of(listing.get("nftables", ()), "bind")
    return frozenset(IPv4Address(ip) for interface, ip in pairs if interface == bridge.interface)


def parse_listing(text: str) -> Mapping[str, Any]:
    """The JSON that `nft -j` printed. Raises: Malformed."""
    try:
        listing = json.loads(text)
    except ValueError as error:
        raise Malformed("nft -j answered something that is no JSON") from error
    if not isinstance(listing, dict):
        raise Malformed("nft -j answered JSON that is no object")
    return listing


def element(bridge: Bridge, address: IPv4Address) -> str:
    """An element of the set `bind`."""
    return f'"{bridge.interface}" . {address}'


def _elements(listed: str) -> str:
    return f"elements = {{ {listed} }} " if listed else ""


def _set_of(entries: Sequence[Mapping[str, Any]], name: str) -> list[list[Any]]:
    for entry in entries:
        if entry.get("set", {}).get("name") == name:
            return [element["concat"] for element in entry["set"].get("elem", ())]
    return []
