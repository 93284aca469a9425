"""The nft table of a sandbox network: its text, and what is wrong with one that was found [pure]."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import AddressValueError, IPv4Address, IPv4Network
from typing import Any

from entrance.errors import Forbidden, Malformed
from orchestrator.adapters.firewall import counting
from orchestrator.adapters.firewall.rules import CHAINS, HOOKS, PRIORITY, RULES
from orchestrator.domain.dropped import Counted

EXECD_PORT = 44772


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
    chains: dict[str, list[tuple[str, str]]] = {
        chain: [(rule.written(values), rule.name) for rule in RULES if rule.chain == chain]
        for chain in CHAINS
    }
    made_of = (chains, bridge.doors, counting.SETS, counting.ROOM)
    mark = hashlib.sha256(repr(made_of).encode()).hexdigest()[:12]
    chains["input"] = [(text, f"{name}, rules {mark}") for text, name in chains["input"]]
    return chains


def table_text(bridge: Bridge, registered: Iterable[IPv4Address], counted: Counted) -> str:
    """The whole table as one nft transaction: what was there of it is replaced at once.

    It goes on counting from what was `counted`.
    """
    doors = ", ".join(f"{bridge.gateway} . {port}" for port in bridge.doors)
    bind = ", ".join(element(bridge, address) for address in sorted(registered))
    lines = [
        f"table inet {bridge.name}",
        f"delete table inet {bridge.name}",
        f"table inet {bridge.name} {{",
        f"  set bind {{ type ifname . ipv4_addr; {_elements(bind)}}}",
        f"  set doors {{ type ipv4_addr . inet_service; {_elements(doors)}}}",
        *(f"  {line}" for line in counting.written(counted)),
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
    if counting.counted_in(listing) is None:
        found.append("it does not say since when it counts")
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
