"""What a sandbox network's table has dropped: the sets that count it, written and read [pure].

A set counts each flow by rule, source, target, protocol and port. Its room is bounded: flows that
find none are counted by source and protocol alone, and in the end all together. A flow that nobody
tried for six hours makes room again.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from ipaddress import ip_address
from typing import Any

from orchestrator.domain.dropped import Count, Counted, Flow

ROOM = 2048
"""Flows that are told apart at once: a listing of as many still takes less than a tenth of a second."""
SETS: Mapping[str, str] = {
    "dropped": "type mark . ipv4_addr . ipv4_addr . inet_proto . inet_service",
    "dropped_by": "type mark . ipv4_addr . inet_proto",
    "dropped_ipv6": "type mark . ipv6_addr . ipv6_addr . inet_proto . inet_service",
}
LONE = 3
"""So many parts has a key without a target."""
REST = "dropped_rest"
GENERATION = "generation"
MOVING = frozenset({*SETS, GENERATION})
"""Sets whose elements come and go while all is well."""


def written(counted: Counted) -> Iterator[str]:
    """The sets with what was counted so far, as lines of a table's text."""
    yield f"set {GENERATION} {{ type mark; elements = {{ {counted.generation} }} }}"
    for name, kind in SETS.items():
        inside = [_element(*each) for each in counted.flows.items() if _set_of(each[0]) == name]
        listed = f" elements = {{ {', '.join(inside)} }}" if inside else ""
        flags = f"{kind}; size {ROOM}; flags dynamic,timeout; timeout 6h;"
        yield f"set {name} {{ {flags}{listed} }}"
    rest = counted.flows.get(Flow(), Count())
    yield f"counter {REST} {{ packets {rest.packets} bytes {rest.bytes} }}"


def counted_in(listing: Mapping[str, Any]) -> Counted | None:
    """What a listing of the table says was dropped; None when it doesn't say since when it counts.

    What can't be read of it is left out: a listing must never keep a table from being made again.
    """
    entries: Sequence[Mapping[str, Any]] = listing.get("nftables", ())
    sets = {e["set"]["name"]: e["set"].get("elem", ()) for e in entries if "set" in e}
    generation = [one for one in sets.get(GENERATION, ()) if isinstance(one, int)]
    if len(generation) != 1:
        return None
    flows = dict(_flows(sets))
    for entry in entries:
        counter = entry.get("counter", {})
        if counter.get("name") == REST and counter.get("packets"):
            flows[Flow()] = Count(counter["packets"], counter["bytes"])
    return Counted(generation[0], flows)


def _flows(sets: Mapping[str, Iterable[Any]]) -> Iterator[tuple[Flow, Count]]:
    for name in SETS:
        for element in sets.get(name, ()):
            try:
                facts = element["elem"]
                flow = _flow(facts["val"]["concat"])
                yield flow, Count(facts["counter"]["packets"], facts["counter"]["bytes"])
            except (KeyError, TypeError, ValueError):
                continue


def _flow(key: Sequence[Any]) -> Flow:
    """Raises: ValueError for anything but numbers, addresses and a protocol: it is written again."""
    rule, source, target, protocol, port = (*key[:2], "", key[2], 0) if len(key) == LONE else key
    if not re.fullmatch(r"[a-z0-9-]+", str(protocol)):
        raise ValueError(f"{protocol!r} is no protocol")
    for address in filter(None, (source, target)):
        ip_address(address)
    return Flow(int(rule), source, target, str(protocol), int(port))


def _set_of(flow: Flow) -> str:
    if not flow.source:
        return REST
    if not flow.target:
        return "dropped_by"
    return "dropped_ipv6" if ":" in flow.source else "dropped"


def _element(flow: Flow, count: Count) -> str:
    key = [flow.rule, flow.source, flow.protocol]
    if flow.target:
        key = [flow.rule, flow.source, flow.target, flow.protocol, flow.port]
    counter = f"counter packets {count.packets} bytes {count.bytes}"
    return f"{' . '.join(map(str, key))} {counter}"
