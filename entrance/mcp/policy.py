"""Which tools a session may call [pure]. Whatever was not granted by name is refused."""

from entrance.decision import Allow, Decision, Deny
from entrance.session import Session


def decide(session: Session, connection: str, tool: str) -> Decision:
    """Say whether the session may call `tool` of `connection` now."""
    granted = session.tools.get(connection)
    if granted is None:
        return Deny(f"this run has no grant for the connection {connection}")
    if tool not in granted:
        mine = ", ".join(sorted(granted)) or "none"
        return Deny(f"{tool} of {connection} was not granted to this run; its tools are: {mine}")
    return Allow()
