"""A held tool call on the screen: the exact arguments. All of it was written by an agent: it is data."""

from collections.abc import Iterator, Mapping
from typing import Any

from entrance.mcp.canonical import canonical
from orchestrator.cli.screen import plain


def exact(item: Mapping[str, Any]) -> Iterator[tuple[str, object]]:
    """What would be sent, byte for byte."""
    wanted = item["wanted"]
    yield "calls", f"{wanted['tool']} of {wanted['connection']}"
    yield "by the rule", wanted["rule"]
    yield "arguments", plain(canonical(wanted["arguments"]))
    yield "sha256", wanted["sha256"]


def edited(item: Mapping[str, Any]) -> Iterator[tuple[str, object]]:
    """What a person has made of it."""
    granted = item["granted"]
    if granted.get("edited"):
        yield "arguments, as edited", plain(canonical(granted["arguments"]))
        yield "sha256 of these", granted["sha256"]
    if "rule" in granted:
        yield "standing rule", plain(canonical(granted["rule"]))


def rule_words(one: Mapping[str, Any]) -> str:
    """What a standing rule for tool calls opens."""
    wanted = one["wanted"]
    return f"{wanted['tool']} of {wanted['connection']} {canonical(one['granted'].get('rule', {}))}"
