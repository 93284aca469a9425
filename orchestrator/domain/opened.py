"""A tool that was not granted, asked for: how its item has it, and what a session is with it [pure].

Only what nobody has said anything of can be opened: a tool that the engagement names stays as it is
named, `forbidden` with it, and what the connection itself says of it comes before any grant.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from entrance.mcp.policy import rule_for, rules_of
from entrance.session import Session
from entrance.tool_policy import MODES, ConnectionRules, Mode, ToolRule
from orchestrator.domain.approval import Approval

LONGEST_DESCRIPTION = 1000
type OpenMode = Literal["read", "write", "approval"]
"""As what a tool can be opened."""


@dataclass(frozen=True, slots=True)
class WantedTool:
    """A tool that an agent wants to call."""

    connection: str
    tool: str
    description: str = ""
    """The server's own words about it."""

    @property
    def title(self) -> str:
        """In a line."""
        return f"call {self.tool} of {self.connection}"


@dataclass(frozen=True, slots=True)
class OpenedTool:
    """A tool that a person has opened. `approval` is the item."""

    connection: str
    tool: str
    mode: Mode
    approval: str


def wanted_json(one: WantedTool) -> dict[str, Any]:
    """As the item keeps it."""
    description = one.description[:LONGEST_DESCRIPTION]
    return {"connection": one.connection, "tool": one.tool, "description": description}


def wanted_from(data: Mapping[str, Any]) -> WantedTool:
    """The reverse. Raises: KeyError."""
    return WantedTool(data["connection"], data["tool"], data["description"])


def granted_json(one: WantedTool, mode: OpenMode) -> dict[str, Any]:
    """What was allowed, as the item keeps it."""
    return {"connection": one.connection, "tool": one.tool, "mode": mode}


def opened_of(item: Approval) -> OpenedTool:
    """What an item in force opens. Raises: KeyError, ValueError when it can't be read."""
    mode = Mode(item.granted["mode"])
    if mode is Mode.FORBIDDEN:
        raise ValueError(f"{item.id} opens nothing")
    return OpenedTool(item.granted["connection"], item.granted["tool"], mode, item.id)


def trouble_asking(session: Session, one: WantedTool) -> str:
    """Why there is nothing to ask a person, as a sentence without its end; empty when there is."""
    named = rule_for(session, one.connection, one.tool)
    if named is None:
        return ""
    if named.mode is Mode.FORBIDDEN:
        return (
            f"{one.tool} of {one.connection} is forbidden to you by your engagement, which only your "
            "supervisor can change: ask by ask_questions"
        )
    return f"{one.tool} of {one.connection} is granted to you: {MODES[named.mode].lower()[:-1]}"


def what_happens(one: WantedTool, agent: str) -> str:
    """What happens when it is allowed, in a sentence."""
    return (
        f"{agent} may call {one.tool} of {one.connection}: at once, but for what people wrote last; or, with "
        "`--mode approval`, each time that a person allows it. The scope of its engagement stays, and so "
        "does what the connection itself forbids or holds."
    )


def with_tools(session: Session, opened: Iterable[OpenedTool]) -> Session:
    """The session with what people have opened to it besides."""
    for one in opened:
        rules = rules_of(session, one.connection) or ConnectionRules(others=Mode.FORBIDDEN)
        if one.tool in rules.tools:
            continue
        rule = ToolRule(one.mode, approval=one.approval)
        wider = replace(rules, tools={**rules.tools, one.tool: rule})
        names = session.tools.get(one.connection, frozenset()) | {one.tool}
        session = replace(
            session,
            tools={**session.tools, one.connection: names},
            tool_rules={**session.tool_rules, one.connection: wider},
        )
    return session
