"""A held tool call on the screen: the exact arguments. All of it was written by an agent: it is data."""

from collections.abc import Iterator, Mapping
from typing import Any

from entrance.mcp.canonical import canonical
from orchestrator.cli.screen import plain

CALL, CALL_RULE = "call", "call_rule"


def told_of(item: Mapping[str, Any]) -> list[tuple[str, object]]:
    """The rows that a person decides by: who, why, out of what, the exact bytes, what will happen."""
    wanted, cause, granted = item["wanted"], item["cause"], item["granted"]
    chain = [f"task {item['task']}", f"run {item['run']}"]
    chain += [f"step {cause['step']}"] if cause.get("step") else []
    chain += [f"call {cause['call']}"] if cause.get("call") else []
    rows: list[tuple[str, object]] = [
        ("id", item["id"]),
        ("state", item["state"]),
        ("agent", item["agent"]),
        ("out of", " > ".join(chain)),
        ("calls", f"{wanted['tool']} of {wanted['connection']}"),
        ("held, because", "; ".join(wanted["reasons"])),
        ("by the rule", wanted["rule"]),
        ("arguments", plain(canonical(wanted["arguments"]))),
        ("sha256", wanted["sha256"]),
        ("if it is allowed", item["happens"]),
    ]
    rows += [("two people", "have to allow it")] if wanted["two_people"] else []
    rows += list(_decided(item, granted))
    return rows


def _decided(item: Mapping[str, Any], granted: Mapping[str, Any]) -> Iterator[tuple[str, object]]:
    first = item["came"].get("first")
    if first:
        yield "allowed first", f"by {first['by']} at {first['at'][:19]}"
    if granted.get("edited"):
        yield "arguments, as edited", plain(canonical(granted["arguments"]))
        yield "sha256 of these", granted["sha256"]
    if "rule" in granted:
        yield "standing rule", plain(canonical(granted["rule"]))
    if item["decided_by"]:
        yield "decided", f"by {item['decided_by']} at {(item['decided_at'] or '')[:19]}"
    for name in ("note", "scope", "until"):
        if item[name]:
            yield name, plain(str(item[name]))
    if words := item["came"].get("words"):
        yield "what came of it", plain(words)


def rule_words(one: Mapping[str, Any]) -> str:
    """What a standing rule for tool calls opens."""
    wanted = one["wanted"]
    return f"{wanted['tool']} of {wanted['connection']} {canonical(one['granted'].get('rule', {}))}"
