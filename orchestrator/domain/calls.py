"""A held tool call: how its item has it, what people read of it, the rule that can be made of it [pure]."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import orjson

from entrance.mcp.canonical import canonical, hash_of
from entrance.mcp.constraints import compiled, exactly
from entrance.ports import HeldCall, ToolResult
from entrance.tool_policy import StandingRule
from orchestrator.domain.approval import Approval, ApprovalState
from orchestrator.domain.kinds import CALL

LONGEST_ARGUMENTS = 24 * 1024
"""Bytes of arguments that can be held: an item is one row of 128 KiB, and a person has to read them."""
LONGEST_RESULT = 24 * 1024
"""Bytes of a result that are kept for the agent; what is longer is cut, and says so."""
TITLE_ARGUMENTS = 160


@dataclass(frozen=True, slots=True)
class WantedCall:
    """A held call, as its item has it."""

    connection: str
    tool: str
    shown: str
    arguments: Mapping[str, Any]
    sha256: str
    """Of the arguments' canonical text (RFC 8785), hex."""
    size_bytes: int
    reason: str
    rule: str
    decision: int
    """The sequence number of the log's record of it."""
    two_people: bool = False


def wanted_of(call: HeldCall) -> WantedCall:
    """What a person decides about. Raises: ValueError when it is too long to be read by one."""
    size = len(call.canonical.encode())
    if size > LONGEST_ARGUMENTS:
        raise ValueError(
            f"a call with {size} bytes of arguments can't be held, only up to {LONGEST_ARGUMENTS}"
        )
    return WantedCall(
        connection=call.connection,
        tool=call.tool,
        shown=call.shown,
        arguments=orjson.loads(call.canonical),
        sha256=call.sha256,
        size_bytes=size,
        reason=" ".join(call.reason.split())[:500],
        rule=call.rule,
        decision=call.decision,
        two_people=call.two_people,
    )


def wanted_json(one: WantedCall) -> dict[str, Any]:
    """As the item keeps it; `reasons` are what every kind says of why it is held."""
    return {
        "connection": one.connection,
        "tool": one.tool,
        "shown": one.shown,
        "arguments": dict(one.arguments),
        "sha256": one.sha256,
        "size_bytes": one.size_bytes,
        "reasons": [one.reason],
        "rule": one.rule,
        "decision": one.decision,
        "two_people": one.two_people,
    }


def wanted_from(data: Mapping[str, Any]) -> WantedCall:
    """The reverse. Raises: KeyError, IndexError."""
    return WantedCall(
        connection=data["connection"],
        tool=data["tool"],
        shown=data["shown"],
        arguments=data["arguments"],
        sha256=data["sha256"],
        size_bytes=data["size_bytes"],
        reason=data["reasons"][0],
        rule=data["rule"],
        decision=data["decision"],
        two_people=data["two_people"],
    )


def identity_of(one: WantedCall) -> str:
    """The same for the same call, whatever it is held for."""
    return f"{one.connection}/{one.tool}\n{one.sha256}"


def title_of(one: WantedCall) -> str:
    """In a line."""
    text = canonical(one.arguments)
    short = text if len(text) <= TITLE_ARGUMENTS else f"{text[:TITLE_ARGUMENTS]}..."
    return f"{one.connection}: {one.tool} {short}"


def what_happens(one: WantedCall, agent: str) -> str:
    """What happens when it is allowed, in a sentence."""
    return (
        f"{one.tool} of {one.connection} is called once for {agent}, with exactly these arguments "
        f"({one.size_bytes} bytes, SHA-256 {one.sha256}), after its grants were looked at again. "
        "What it answers is given to the agent."
    )


@dataclass(frozen=True, slots=True)
class Sent:
    """What is sent of an item: the arguments as a person has allowed them."""

    arguments: Mapping[str, Any]
    sha256: str
    edited: bool = False


def sent_of(one: WantedCall, edited: Mapping[str, Any] | None) -> Sent:
    """The call's own arguments, or those that a person has put in their place. Raises: ValueError."""
    if edited is None:
        return Sent(one.arguments, one.sha256)
    text = canonical(edited)
    if len(text.encode()) > LONGEST_ARGUMENTS:
        raise ValueError(f"arguments have at most {LONGEST_ARGUMENTS} bytes")
    return Sent(edited, hash_of(text), edited=hash_of(text) != one.sha256)


def granted_json(sent: Sent, rule: str = "") -> dict[str, Any]:
    """What was allowed, as the item keeps it; `rule` is the schema of the standing rule made with it."""
    granted: dict[str, Any] = {
        "arguments": dict(sent.arguments),
        "sha256": sent.sha256,
        "edited": sent.edited,
    }
    return {**granted, "rule": orjson.loads(rule)} if rule else granted


def sent_from(item: Approval) -> Sent:
    """What is sent of an item that is allowed.

    Raises: ValueError when the stored arguments are not those that were allowed.
    """
    granted = item.granted
    sent = Sent(granted["arguments"], granted["sha256"], granted["edited"])
    if hash_of(canonical(sent.arguments)) != sent.sha256:
        raise ValueError("the arguments are not those that were allowed")
    return sent


def bounds_of(one: WantedCall, sent: Sent, bounds: Mapping[str, Any] | None) -> str:
    """The schema of a standing rule: these very arguments, or a person's own bounds, as JSON.

    Raises: ValueError when it is no schema, or doesn't let the call itself through.
    """
    schema = exactly(sent.arguments) if bounds is None else dict(bounds)
    text = orjson.dumps(schema, option=orjson.OPT_SORT_KEYS).decode()
    if not compiled(text).is_valid(dict(sent.arguments)):
        raise ValueError(f"the bounds don't let this call of {one.tool} itself through")
    return text


def standing_of(item: Approval) -> StandingRule:
    """The rule that an item is. Raises: KeyError, ValueError when it can't be read."""
    schema = orjson.dumps(item.granted["rule"], option=orjson.OPT_SORT_KEYS).decode()
    compiled(schema)
    return StandingRule(item.id, item.wanted["connection"], item.wanted["tool"], schema)


_NOT_MADE: Mapping[ApprovalState, str] = {
    ApprovalState.WAITING: "waits for a decision",
    ApprovalState.ALLOWED: "is allowed, and not made yet",
    ApprovalState.RELEASING: "is being made",
    ApprovalState.UNANSWERED: "was made once, and whether it was done is not known",
}


def not_made(items: Iterable[Approval]) -> list[str]:
    """Of a task's items, in sentences: which of its held calls aren't done, or not known to be."""
    told = []
    for item in sorted(items, key=lambda one: one.asked_at):
        if item.kind == CALL and (why := _NOT_MADE.get(item.state)):
            one = wanted_from(item.wanted)
            told.append(f"The call of {one.tool} of {one.connection} {why}: {item.id}.")
    return told


def in_words(result: ToolResult) -> str:
    """What the tool answered, for the agent and for the task."""
    text, whole = result.text.encode("utf-8", "replace").decode(), len(result.text)
    while len(orjson.dumps(text)) > LONGEST_RESULT:
        text = text[: len(text) * 3 // 4]
    if len(text) < whole:
        text += f"\n[cut: {len(text)} of {whole} characters]"
    head = "It answered with an error" if result.is_error else "It answered"
    return f"{head}: {text}"


def rule_item(item: Approval, id_: str, kind: str) -> Approval:
    """The standing rule that was made with a decision, as an item of its own."""
    wanted = {key: item.wanted[key] for key in ("connection", "tool", "shown")}
    return replace(
        item,
        id=id_,
        kind=kind,
        wanted={**wanted, "made_from": item.id},
        title=f"{item.wanted['connection']}: {item.wanted['tool']}",
        granted={"rule": item.granted["rule"]},
        state=ApprovalState.STANDING,
        came={},
        version=0,
    )
