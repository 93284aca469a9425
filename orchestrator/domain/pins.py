"""Tools of servers as they were when they were first granted, and what people said of their changes [pure].

A tool's words are read by models: a server that changes them later can tell an agent what to do ("tool
poisoning"). So each text of a tool is known by its hash, and counts when a person has looked at it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from difflib import unified_diff
from functools import lru_cache
from typing import Any

import orjson

from entrance.mcp.canonical import canonical, hash_of
from entrance.ports import Pinned
from entrance.tool_policy import Change
from orchestrator.domain.approval import Approval, ApprovalState
from orchestrator.domain.kinds import TOOL_CHANGE

LONGEST_TOOL = 64 * 1024
"""Bytes of a tool's text that are kept; of a longer one its hash is."""
LONGEST_CHANGES = 96 * 1024
"""Bytes of texts in one item: it is one row of 128 KiB."""
NAMED = 5
"""So many tools are named in an item's title."""


@dataclass(frozen=True, slots=True)
class Pin:
    """A tool as it was when it was first granted to anybody."""

    connection: str
    tool: str
    sha256: str
    """Of the canonical text (RFC 8785) of all that its server lists of it, hex."""
    listed: Mapping[str, Any] | None
    """None when it was too long to be kept."""
    seen_at: datetime


@dataclass(frozen=True, slots=True)
class Changed:
    """A tool that is another than the one that is known. `old` is None when that was too long to be kept."""

    tool: str
    old_sha256: str
    old: Mapping[str, Any] | None
    sha256: str
    new: Mapping[str, Any]


type Tool = tuple[str, str]
"""Connection and name."""


@dataclass(frozen=True, slots=True)
class Verdicts:
    """What people said of changes: the texts that they accepted, oldest first, and denied."""

    accepted: Mapping[Tool, Sequence[tuple[str, Mapping[str, Any]]]] = field(default_factory=dict)
    denied: frozenset[tuple[str, str, str]] = frozenset()


def fingerprint(listed: Mapping[str, Any]) -> str:
    """The hash of a tool's text. The order of names in it makes no difference."""
    return _fingerprint(orjson.dumps(listed))


@lru_cache(8192)
def _fingerprint(text: bytes) -> str:
    return hash_of(canonical(orjson.loads(text)))


def pin_of(connection: str, listed: Mapping[str, Any], at: datetime) -> Pin:
    """A tool as it is seen for the first time."""
    kept = listed if len(orjson.dumps(listed)) <= LONGEST_TOOL else None
    return Pin(connection, str(listed["name"]), fingerprint(listed), kept, at)


def verdicts_of(items: Iterable[Approval]) -> Verdicts:
    """What the items say; one that can't be read says nothing."""
    accepted: dict[Tool, list[tuple[str, Mapping[str, Any]]]] = {}
    denied = set()
    for item in sorted(items, key=lambda one: one.decided_at or one.asked_at):
        if item.kind != TOOL_CHANGE:
            continue
        for each in changes_in(item):
            tool = (str(item.wanted["connection"]), each.tool)
            if item.state is ApprovalState.STANDING:
                accepted.setdefault(tool, []).append((each.sha256, each.new))
            elif item.state is ApprovalState.DENIED:
                denied.add((*tool, each.sha256))
    return Verdicts(accepted, frozenset(denied))


def compared(pin: Pin, verdicts: Verdicts, listed: Mapping[str, Any]) -> Pinned:
    """How a tool stands as it is offered now."""
    now, tool = fingerprint(listed), (pin.connection, pin.tool)
    accepted = verdicts.accepted.get(tool, ())
    if now == pin.sha256 or any(now == sha256 for sha256, _ in accepted):
        return Pinned(listed)
    _, known = newest(pin, verdicts)
    denied = (*tool, now) in verdicts.denied
    return Pinned(known, Change.DENIED if denied else Change.UNSEEN)


def newest(pin: Pin, verdicts: Verdicts) -> tuple[str, Mapping[str, Any] | None]:
    """The text that was looked at last, and its hash."""
    accepted = verdicts.accepted.get((pin.connection, pin.tool), ())
    return accepted[-1] if accepted else (pin.sha256, pin.listed)


def changed(pin: Pin, verdicts: Verdicts, listed: Mapping[str, Any]) -> Changed:
    """What a person has to look at."""
    old_sha256, old = newest(pin, verdicts)
    return Changed(pin.tool, old_sha256, old, fingerprint(listed), listed)


def shares(changes: Iterable[Changed]) -> tuple[list[list[Changed]], list[Changed]]:
    """The changes in shares that one item can hold each, and those that are too long for any."""
    shared: list[list[Changed]] = []
    too_long, left = [], 0
    for each in changes:
        size = len(orjson.dumps(_change_json(each)))
        if size > LONGEST_CHANGES:
            too_long.append(each)
            continue
        if size > left:
            shared.append([])
            left = LONGEST_CHANGES
        shared[-1].append(each)
        left -= size
    return shared, too_long


def wanted_json(connection: str, changes: Sequence[Changed]) -> dict[str, Any]:
    """As the item keeps it."""
    return {
        "connection": connection,
        "tools": [_change_json(each) for each in changes],
        "reasons": ["its words or schema are other than when a person looked at it"],
    }


def changes_in(item: Approval) -> list[Changed]:
    """The reverse; nothing of an item that can't be read."""
    try:
        return [Changed(**each) for each in item.wanted["tools"]]
    except (KeyError, TypeError):
        return []


def title_of(connection: str, changes: Sequence[Changed]) -> str:
    """In a line."""
    names = ", ".join(each.tool[:60] for each in changes[:NAMED])
    more = f" and {len(changes) - NAMED} more" if len(changes) > NAMED else ""
    return f"{connection}: {names}{more} changed"


def what_happens(connection: str, changes: Sequence[Changed]) -> str:
    """What happens when it is allowed, in a sentence."""
    which = "The tool is" if len(changes) == 1 else f"The {len(changes)} tools are"
    return (
        f"{which} shown to agents as {connection} has it now, and called again as granted: by everybody who "
        "is hired, until it changes once more. Held calls are not made by it; agents make them anew."
    )


def diff_of(change: Mapping[str, Any]) -> list[str]:
    """What has changed of a tool in an item, as lines of a unified diff."""
    before, after = f"{change['tool']}, as it is known", f"{change['tool']}, as it is now"
    old, new = _lines(change["old"] or {}), _lines(change["new"])
    return list(unified_diff(old, new, before, after, lineterm=""))


def _lines(listed: Mapping[str, Any]) -> list[str]:
    """A tool's text as a person reads it: descriptions line by line, the rest as JSON in one order."""
    lines: list[str] = []
    for name in sorted(listed, key=lambda name: (name not in {"title", "description"}, name)):
        value = listed[name]
        if isinstance(value, str):
            lines += [f"{name}:", *(f"  {line}" for line in value.split("\n"))]
            continue
        text = orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS).decode()
        lines += [f"{name}:", *(f"  {line}" for line in text.split("\n"))]
    return lines


def _change_json(one: Changed) -> dict[str, Any]:
    return {
        "tool": one.tool,
        "old_sha256": one.old_sha256,
        "old": None if one.old is None else dict(one.old),
        "sha256": one.sha256,
        "new": dict(one.new),
    }
