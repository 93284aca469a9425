"""One item of the inbox on the screen, of any kind: who wants exactly what, why, out of what, what then.

All of it was written by agents and their sandboxes: it is data.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from entrance.mcp.canonical import canonical
from orchestrator.cli import held_call, held_push
from orchestrator.cli.screen import one_line, plain
from orchestrator.domain.kinds import CALL, CALL_RULE, EGRESS, PUSH, TOOL, TOOL_CHANGE

Item = Mapping[str, Any]
Rows = Iterator[tuple[str, object]]
LONGEST_REASON = 500
LONGEST_WORDS = 1500


def told_of(item: Item) -> list[tuple[str, object]]:
    """The rows that a person decides by; what is empty is left out."""
    exact = EXACT.get(item["kind"], _anything)
    rows = (*_who(item), *_why(item), *exact(item), *_then(item), *_decided(item))
    return [(name, value) for name, value in rows if value not in (None, "", {}, [])]


def _who(item: Item) -> Rows:
    for name in ("id", "kind", "state", "agent"):
        yield name, item[name]
    yield "out of", _chain(item)
    yield "asked at", item["asked_at"][:19]
    yield "asked by", one_line(item["cause"].get("asked_by", ""))


def _chain(item: Item) -> str:
    """What led to it, the outermost first."""
    cause = item["cause"]
    chain = [f"task {item['task']}", f"run {item['run']}"]
    chain += [f"step {cause['step']}"] if cause.get("step") is not None else []
    chain += [one_line(cause["tool"])] if cause.get("tool") else []
    chain += [f"call {one_line(cause['call'])}"] if cause.get("call") else []
    return " > ".join(chain)


def _why(item: Item) -> Rows:
    turn = item.get("turn") or {}
    if said := turn.get("said"):
        yield "its model had said", one_line(said, LONGEST_WORDS)
    yield "why", plain(item["why"])
    for reason in item["wanted"].get("reasons", ()):
        yield "held, because", one_line(reason, LONGEST_REASON)


def _request(item: Item) -> Rows:
    wanted = item["wanted"]
    yield "wants", f"{wanted.get('method', '')} {wanted.get('url', '')}".strip() or item["title"]


def _tool(item: Item) -> Rows:
    wanted = item["wanted"]
    yield "wants to call", f"{wanted['tool']} of {wanted['connection']}"
    yield "the server says of it", one_line(wanted["description"], LONGEST_WORDS)


def _call_rule(item: Item) -> Rows:
    yield "is for calls of", f"{item['wanted']['tool']} of {item['wanted']['connection']}"
    yield "made from", item["wanted"].get("made_from", "")


def _tool_change(item: Item) -> Rows:
    """What exactly has changed of each comes below the page, as a diff."""
    tools = [one_line(each["tool"]) for each in item["wanted"]["tools"]]
    yield "has changed", f"{', '.join(tools)} of {item['wanted']['connection']}"


def _anything(item: Item) -> Rows:
    yield "wants", item["title"]


EXACT: Mapping[str, Callable[[Item], Rows]] = {
    EGRESS: _request,
    PUSH: held_push.exact,
    CALL: held_call.exact,
    CALL_RULE: _call_rule,
    TOOL: _tool,
    TOOL_CHANGE: _tool_change,
}
"""What each kind says of the exact thing that is wanted."""


def _then(item: Item) -> Rows:
    if item["kind"] != CALL_RULE:
        yield "if it is allowed", item["happens"]
    if item["wanted"].get("two_people"):
        yield "two people", "have to allow it"
    if first := item["came"].get("first"):
        yield "allowed first", f"by {first['by']} at {first['at'][:19]}"


def _decided(item: Item) -> Rows:
    yield from held_call.edited(item)
    if item["kind"] == EGRESS and item["granted"]:
        yield "allowed", plain(canonical(item["granted"]))
    if item["kind"] == TOOL and item["granted"]:
        yield "granted as", item["granted"]["mode"]
    if item["decided_by"]:
        yield "decided", f"by {item['decided_by']} at {(item['decided_at'] or '')[:19]}"
    yield "note", plain(item["note"])
    if scope := item["scope"]:
        yield "for", f"{scope['kind']} {scope['id']}"
    yield "to the run", item["granted_to"]
    yield "until", item["until"]
    yield "what came of it", plain(item["came"].get("words", ""))
