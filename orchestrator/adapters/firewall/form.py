"""The form of an nft table: what stays the same in every listing of the same rules [pure].

A rule that was changed can keep its name, and a table can be switched off as a whole; so what was
found is held against what nft itself makes of our text.
"""

import json
from collections.abc import Mapping
from typing import Any

from orchestrator.adapters.firewall import counting

MOVING = frozenset({"bind", *counting.MOVING})
"""Sets whose elements change while all is well: which addresses may reach the doors, what was dropped."""
_COUNTED = frozenset({"packets", "bytes"})
_OF_THE_MOMENT = frozenset({"handle", "table"})


def form(listing: Mapping[str, Any]) -> dict[str, list[str]]:
    """The parts of a table by name, each with its facts; what moves by itself is left out."""
    parts: dict[str, list[str]] = {}
    for entry in listing.get("nftables", ()):
        for kind, facts in entry.items():
            if kind != "metainfo":
                parts.setdefault(_part(kind, facts), []).append(_facts(kind, facts))
    return parts


def unlike(found: Mapping[str, Any], wanted: Mapping[str, Any]) -> list[str]:
    """What of the table `found` is other than in the one that is `wanted`; both as listings."""
    there, ours = form(found), form(wanted)
    return [
        *(f"{name} is missing" for name in ours if name not in there),
        *(f"{name} was changed" for name in ours if there.get(name, ours[name]) != ours[name]),
        *(f"{name} was added" for name in there if name not in ours),
    ]


def _part(kind: str, facts: Mapping[str, Any]) -> str:
    match kind:
        case "table":
            return "the table itself"
        case "rule":
            return f"what chain {facts.get('chain')} does"
        case _:
            return f"{kind} {facts.get('name')}"


def _facts(kind: str, facts: Mapping[str, Any]) -> str:
    kept = {name: value for name, value in facts.items() if name not in _OF_THE_MOMENT}
    if kind == "set" and facts.get("name") in MOVING:
        kept.pop("elem", None)
    if kind == "counter":
        kept = {name: value for name, value in kept.items() if name not in _COUNTED}
    if "elem" in kept:
        kept["elem"] = sorted(kept["elem"], key=_text)  # a set has no order
    if "expr" in kept:
        kept["expr"] = [_uncounted(one) for one in kept["expr"]]
    return _text(kept)


def _uncounted(expression: Any) -> Any:
    """A counter counts; one with a name is a part of its own."""
    counts = isinstance(expression, Mapping) and isinstance(expression.get("counter"), Mapping)
    return "counter" if counts else expression


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True)
