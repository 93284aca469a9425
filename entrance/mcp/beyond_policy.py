"""What a session may do at a connection beside calling tools [pure]. What was not granted is refused."""

import re

from entrance.decision import Allow, Decision, Deny
from entrance.mcp.policy import rules_of
from entrance.session import Ask, BeyondTools, Session

_NOTHING = BeyondTools()
_DOTS = re.compile(
    r"(?:^|[/\\])(?:\.|%2e){1,2}(?:[/\\?#]|$)|%2f|%5c|%00|[\x00-\x20\x7f]", re.IGNORECASE
)
"""What could make a URI mean another place than it begins with."""


def decide_prompt(session: Session, connection: str, prompt: str) -> Decision:
    """Say whether the session may get a prompt of `connection`."""
    if prompt not in _beyond(session, connection).prompts:
        return Deny(f"the prompt {prompt[:100]} of {connection} was not granted to this run")
    return Allow()


def decide_resource(session: Session, connection: str, uri: str) -> Decision:
    """Say whether the session may read, or be told about, a resource of `connection`."""
    granted = _beyond(session, connection).resources
    if uri in granted and not uri.endswith("*"):
        return Allow()
    if not _DOTS.search(uri) and any(_below(pattern, uri) for pattern in granted):
        return Allow()
    return Deny(f"the resource {uri[:200]} of {connection} was not granted to this run")


def decide_template(session: Session, connection: str, template: str) -> Decision:
    """Say whether the session may see a template: whatever it makes must be granted."""
    fixed = template.partition("{")[0]
    return decide_resource(session, connection, fixed) if fixed else Deny("it makes any URI")


def decide_ask(session: Session, connection: str, ask: Ask | None) -> Decision:
    """Say whether the server of `connection` may ask the run's client; None: for what nobody knows."""
    if ask is None or ask not in _beyond(session, connection).asks:
        return Deny(f"{connection} may not ask this run's agent for {ask or 'that'}")
    return Allow()


def asks_of(session: Session, connection: str) -> frozenset[Ask]:
    """All that the server of `connection` may ask."""
    return _beyond(session, connection).asks


def has_more_than_tools(session: Session, connection: str) -> bool:
    """Whether anything but tools is granted at a connection."""
    return _beyond(session, connection) != _NOTHING


def _beyond(session: Session, connection: str) -> BeyondTools:
    if rules_of(session, connection) is None:
        return _NOTHING
    return session.beyond_tools.get(connection, _NOTHING)


def _below(pattern: str, uri: str) -> bool:
    return pattern.endswith("*") and uri.startswith(pattern[:-1])
