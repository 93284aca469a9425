"""What a session may do at a connection beside calling tools, and by which rule [pure].

RULES: the first row that applies decides. What was not granted is refused.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from entrance.decision import Allow, Decision, Deny
from entrance.mcp.policy import Ruled, rules_of
from entrance.session import Session
from entrance.tool_policy import Ask, BeyondTools, Bounds

_DOTS = re.compile(
    r"(?:^|[/\\])(?:\.|%2e){1,2}(?:[/\\?#]|$)|%2f|%5c|%00|[\x00-\x20\x7f]", re.IGNORECASE
)
"""What could make a URI mean another place than it begins with."""
_NOTHING = BeyondTools()
_KINDS: Mapping[str, str] = {
    "prompt": "prompt",
    "resource": "resource",
    "template": "resource template",
    "ask": "question",
}


@dataclass(frozen=True, slots=True)
class Wish:
    """What is wanted of a connection: a prompt, a resource, a template of such, or to ask something.

    `name` is the prompt's name, the URI, or the kind of question; `bounds` is what the connection says.
    """

    kind: Literal["prompt", "resource", "template", "ask"]
    connection: str
    name: str
    bounds: Bounds = field(default_factory=Bounds)


@dataclass(frozen=True, slots=True)
class Case:
    """A wish against what was granted. `granted` is None without a grant for the connection."""

    wish: Wish
    granted: BeyondTools | None

    @property
    def uri(self) -> str:
        """Of a template, what all that it makes begins with."""
        return self.wish.name.partition("{")[0] if self.wish.kind == "template" else self.wish.name

    @property
    def told(self) -> str:
        return f"{self.wish.name[:200]} of {self.wish.connection}"


@dataclass(frozen=True, slots=True)
class Rule:
    """One row."""

    name: str
    what: str
    """For the reference page."""
    applies: Callable[[Case], bool]
    decision: Callable[[Case], Decision]


RULES: tuple[Rule, ...] = (
    Rule(
        "connection_not_granted",
        "The connection was not granted.",
        lambda c: c.granted is None,
        lambda c: Deny(f"this run has no grant for the connection {c.wish.connection}"),
    ),
    Rule(
        "any_uri",
        "It is a template that makes any URI.",
        lambda c: c.wish.kind == "template" and not c.uri,
        lambda c: Deny(f"{c.told} makes any URI"),
    ),
    Rule(
        "beyond_not_granted",
        "The prompt, the resource or the question was not granted.",
        lambda c: not _covered(c, c.granted or _NOTHING),
        lambda c: Deny(f"the {_KINDS[c.wish.kind]} {c.told} was not granted to this run"),
    ),
    Rule(
        "connection_forbids",
        "The connection itself has a list of such things, and this one isn't on it.",
        lambda c: not _covered(c, c.wish.bounds),
        lambda c: Deny(f"{c.told} is open to nobody"),
    ),
    Rule("granted", "It was granted.", lambda _: True, lambda _: Allow()),
)


def decide_beyond(session: Session, wish: Wish) -> Ruled:
    """Say whether the session may have its wish."""
    rules = rules_of(session, wish.connection)
    case = Case(wish, rules.more if rules else None)
    return next(Ruled(rule.decision(case), rule.name) for rule in RULES if rule.applies(case))


def is_open(session: Session, wish: Wish) -> bool:
    """Whether it may."""
    return isinstance(decide_beyond(session, wish).decision, Allow)


def asks_of(session: Session, connection: str, bounds: Bounds) -> frozenset[Ask]:
    """All that the server of `connection` may ask."""
    asks = beyond_of(session, connection).asks
    return asks if bounds.asks is None else asks & bounds.asks


def beyond_of(session: Session, connection: str) -> BeyondTools:
    """What was granted at a connection beside its tools."""
    rules = rules_of(session, connection)
    return rules.more if rules else _NOTHING


def has_more_than_tools(session: Session, connection: str) -> bool:
    """Whether anything but tools is granted at a connection."""
    return beyond_of(session, connection) != _NOTHING


def _covered(case: Case, by: BeyondTools | Bounds) -> bool:
    """Whether it is among these; where nothing is said, everything is."""
    match case.wish.kind:
        case "prompt":
            return by.prompts is None or case.wish.name in by.prompts
        case "ask":
            return by.asks is None or case.wish.name in by.asks
        case _:
            return by.resources is None or _among(by.resources, case.uri)


def _among(patterns: tuple[str, ...], uri: str) -> bool:
    if uri in patterns and not uri.endswith("*"):
        return True
    below = (uri.startswith(one[:-1]) for one in patterns if one.endswith("*"))
    return not _DOTS.search(uri) and any(below)
