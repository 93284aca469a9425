"""Tool calls that people decide about, one by one or for good."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from entrance.session import Session
from entrance.tool_policy import StandingRule


class StandingCalls(Protocol):
    """Knows what people have allowed for more than one call."""

    def of(self, session: Session) -> Sequence[StandingRule]:
        """The rules that are in force for a session now. No I/O: it is asked before every call."""
        ...


@dataclass(frozen=True, slots=True)
class HeldCall:
    """A tool call that waits for a person."""

    session: Session
    connection: str
    tool: str
    """As its connection names it."""
    shown: str
    """As the agent knows it."""
    arguments: Mapping[str, Any]
    canonical: str
    """The arguments in their one form (RFC 8785); `sha256` is of it, hex."""
    sha256: str
    reason: str
    """Why it is held, as a sentence without its end."""
    rule: str
    decision: int
    """The sequence number of the log's record of it."""
    two_people: bool = False
    call: str = ""
    """The call's id, as its transcript has it."""


class CallInbox(Protocol):
    """Where people are asked about tool calls."""

    async def ask(self, call: HeldCall) -> str:
        """Have a person asked; what the agent is told. Asked again of the same call, it tells how it stands.

        Raises: Unavailable; Conflict when it can't be asked: too much was, or it is too long.
        """
        ...
