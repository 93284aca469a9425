"""Whether a session may call a tool, and by which rule [pure].

RULES: the first row that applies decides. What was not granted is refused before anything else is looked
at, so nothing that comes later can open it; what a server says of its own tools is never asked.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from entrance.decision import Allow, Decision, Deny, Hold
from entrance.mcp.about import about
from entrance.mcp.catalogue import Granted
from entrance.mcp.constraints import misfit
from entrance.session import Session
from entrance.tool_policy import (
    About,
    Change,
    ConnectionRules,
    Facts,
    Mode,
    Scope,
    StandingRule,
    ToolRule,
    listed,
)

TOOL_CHANGED = "tool_changed"


@dataclass(frozen=True, slots=True)
class Call:
    """One call: of which tool, by its provider's own name, with what."""

    connection: str
    tool: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    facts: Facts = field(default_factory=Facts)


@dataclass(frozen=True, slots=True)
class Ruled:
    """What was decided, and the name of the rule that decided."""

    decision: Decision
    rule: str


@dataclass(frozen=True, slots=True)
class Case:
    """A call against what is granted for it. `named` is None when the connection has no such name."""

    call: Call
    rules: ConnectionRules | None
    named: ToolRule | None
    standing: StandingRule | None

    @property
    def mode(self) -> Mode:
        if self.rules is None:
            return Mode.FORBIDDEN
        return self.named.mode if self.named else self.rules.others

    @property
    def scope(self) -> Scope:
        return self.rules.scope if self.rules else Scope()

    @property
    def about(self) -> About:
        return self.call.facts.about or about(self.call.arguments)

    @property
    def misfit(self) -> str:
        """How the arguments break the tool's bounds."""
        if self.named is None or not self.named.arguments:
            return ""
        return misfit(self.named.arguments, self.call.arguments)


@dataclass(frozen=True, slots=True)
class Rule:
    """One row: `applies` gives the sentence's fact, or nothing."""

    name: str
    what: str
    """For the reference page."""
    applies: Callable[[Case], str]
    decision: Callable[[str], Decision]


def _allow(_reason: str) -> Decision:
    return Allow()


def _beyond(case: Case, kind: str) -> str:
    if case.named is None or case.named.beyond != kind:
        return ""
    wrong = case.misfit
    if not wrong:
        return ""
    return f"the arguments are beyond what was granted for {case.call.tool}: {wrong}"


def _outside(name: str) -> Callable[[Case], str]:
    def applies(case: Case) -> str:
        bound: frozenset[str] | None = getattr(case.scope, name)
        if bound is None:
            return ""
        wanted: frozenset[str] = getattr(case.about, name)
        if wanted <= bound:
            return ""
        out, may = ", ".join(sorted(wanted - bound))[:200], ", ".join(sorted(bound))[:300]
        return f"{out} is not in what was granted of {name}: {may or 'none'}"

    return applies


def _unclear(case: Case) -> str:
    if case.call.facts.about is not None:
        return ""
    for name in ("projects", "repositories"):
        if getattr(case.scope, name) is not None and not getattr(case.about, name):
            return f"which of the {name} {case.call.tool} is about can't be told from its arguments"
    return ""


def _not_granted(case: Case) -> str:
    tool, connection = case.call.tool, case.call.connection
    if case.rules is None:
        return f"this run has no grant for the connection {connection}"
    if case.named is None and case.mode is Mode.FORBIDDEN:
        mine = ", ".join(sorted(shown_names(case.rules))) or "none"
        return f"{tool} of {connection} was not granted to this run; its tools are: {mine}"
    return ""


RULES: tuple[Rule, ...] = (
    Rule(
        "not_granted",
        "The connection, or the tool, was not granted.",
        _not_granted,
        Deny,
    ),
    Rule(
        "forbidden",
        "The tool has the mode `forbidden`.",
        lambda c: f"{c.call.tool} is forbidden to this run" if c.mode is Mode.FORBIDDEN else "",
        Deny,
    ),
    Rule(
        "connection_forbids",
        "The connection itself says `forbidden` of the tool.",
        lambda c: (
            f"{c.call.tool} is forbidden to all who use {c.call.connection}"
            if c.call.facts.said is Mode.FORBIDDEN
            else ""
        ),
        Deny,
    ),
    *(
        Rule(
            f"{name}_out_of_scope",
            f"The call names something outside the connection's `{name}`.",
            _outside(name),
            Deny,
        )
        for name in ("projects", "types", "repositories", "queries")
    ),
    Rule(
        "arguments_refused",
        "The arguments don't fit the tool's bounds (`beyond: deny`).",
        lambda c: _beyond(c, "deny"),
        Deny,
    ),
    Rule(
        "change_denied",
        "The tool's words or schema have changed, and a person has denied it as it is.",
        lambda c: (
            f"{c.call.tool} has changed, and a person has denied it as it is now"
            if c.call.facts.changed is Change.DENIED
            else ""
        ),
        Deny,
    ),
    Rule(
        TOOL_CHANGED,
        "The tool's words or schema are other than when a person looked at it.",
        lambda c: (
            f"{c.call.tool} is another than the one a person has looked at"
            if c.call.facts.changed
            else ""
        ),
        Hold,
    ),
    Rule(
        "standing",
        "A standing rule allows it; its name is `approval/<id>`.",
        lambda c: c.standing.id if c.standing else "",
        _allow,
    ),
    Rule(
        "unnamed",
        "The connection is granted, the tool is not named there: nobody has looked at it.",
        lambda c: f"nobody has looked at {c.call.tool} yet" if c.named is None else "",
        Hold,
    ),
    Rule(
        "needs_approval",
        "The tool has the mode `approval`.",
        lambda c: (
            f"every call of {c.call.tool} waits for a person" if c.mode is Mode.APPROVAL else ""
        ),
        Hold,
    ),
    Rule(
        "connection_holds",
        "The connection itself says `approval` of the tool.",
        lambda c: (
            f"every call of {c.call.tool} waits for a person"
            if c.call.facts.said is Mode.APPROVAL
            else ""
        ),
        Hold,
    ),
    Rule(
        "arguments_held",
        "The arguments don't fit the tool's bounds (`beyond: hold`).",
        lambda c: _beyond(c, "hold"),
        Hold,
    ),
    Rule(
        "scope_unclear",
        "The connection has `projects` or `repositories`, and nothing says which the call is about.",
        _unclear,
        Hold,
    ),
    Rule(
        "read",
        "The tool has the mode `read`.",
        lambda c: "read" if c.mode is Mode.READ else "",
        _allow,
    ),
    Rule(
        "of_people",
        "It changes what a person wrote last.",
        lambda c: (
            f"{', '.join(c.call.facts.of_people)[:200]} was last written by a person"
            if c.call.facts.of_people
            else ""
        ),
        Hold,
    ),
    Rule(
        "write",
        "The tool has the mode `write`.",
        lambda c: "write" if c.mode is Mode.WRITE else "",
        _allow,
    ),
)


def decide(session: Session, call: Call, standing: Iterable[StandingRule] = ()) -> Ruled:
    """Say what becomes of a call. `standing`: the rules that are in force for the session."""
    case = _case(session, call, standing)
    for rule in RULES:
        if fact := rule.applies(case):
            return Ruled(rule.decision(fact), _named(rule.name, fact, case))
    return Ruled(Deny("no rule allows it"), "none")


def _named(rule: str, fact: str, case: Case) -> str:
    """The rule as the log names it; what a person has let through is named by their decision."""
    if rule == "standing":
        return f"approval/{fact}"
    by_item = case.named.approval if case.named else ""
    return f"approval/{by_item}" if by_item and rule in {"read", "write"} else rule


def rules_of(session: Session, connection: str) -> ConnectionRules | None:
    """What the session may do at a connection; None when it has no grant for it."""
    if connection in session.tool_rules:
        return session.tool_rules[connection]
    return listed(session.tools[connection]) if connection in session.tools else None


def granted(session: Session) -> dict[str, Granted]:
    """What the session was granted at each connection, as the names of tools are made of it."""
    found = {}
    for connection in session.tools.keys() | session.tool_rules.keys():
        rules = rules_of(session, connection) or ConnectionRules(others=Mode.FORBIDDEN)
        found[connection] = Granted(frozenset(rules.tools), rules.others is not Mode.FORBIDDEN)
    return found


def rule_for(session: Session, connection: str, tool: str) -> ToolRule | None:
    """What was granted for a tool by name."""
    rules = rules_of(session, connection)
    return rules.tools.get(tool) if rules else None


def is_shown(session: Session, connection: str, tool: str) -> bool:
    """Whether the agent is to see the tool: some call of it may be allowed, or held."""
    rules = rules_of(session, connection)
    if rules is None:
        return False
    named = rules.tools.get(tool)
    return (named.mode if named else rules.others) is not Mode.FORBIDDEN


def may_be_held(session: Session, connection: str, tool: str) -> bool:
    """Whether what is granted has calls of a tool wait for a person, some of them or all."""
    rules = rules_of(session, connection)
    if rules is None:
        return False
    named, scope = rules.tools.get(tool), rules.scope
    scoped = scope.projects is not None or scope.repositories is not None
    return named is None or named.mode is Mode.APPROVAL or named.beyond == "hold" or scoped


def shown_names(rules: ConnectionRules) -> list[str]:
    """The tools that are named, and not forbidden."""
    return [name for name, rule in rules.tools.items() if rule.mode is not Mode.FORBIDDEN]


def _case(session: Session, call: Call, standing: Iterable[StandingRule]) -> Case:
    rules = rules_of(session, call.connection)
    fitting = (
        one
        for one in standing
        if (one.connection, one.tool) == (call.connection, call.tool)
        and not misfit(one.arguments, call.arguments)
    )
    return Case(
        call=call,
        rules=rules,
        named=rules.tools.get(call.tool) if rules else None,
        standing=next(fitting, None),
    )
