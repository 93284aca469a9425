"""A call is judged: by what is known of it, by the rules, and, where it is held, by asking a person."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import structlog

from entrance.decision import Deny, Hold
from entrance.errors import Conflict, SandgateError
from entrance.mcp.canonical import canonical, hash_of
from entrance.mcp.catalogue import Entry
from entrance.mcp.policy import TOOL_CHANGED, Call, Ruled, decide, rule_for
from entrance.ports import CallInbox, HeldCall, Pins, StandingCalls, TellsFacts, ToolResult
from entrance.session import Session
from entrance.tool_policy import Facts, Mode

log = structlog.get_logger()

UNKNOWN = "what it is about can't be found out now: try again in a minute"


@dataclass(frozen=True, slots=True)
class Judge:
    """Decides about calls."""

    standing: StandingCalls | None = None
    """None: nobody allows more than one call."""
    inbox: CallInbox | None = None
    """None: nobody can be asked, and what would be held is refused."""
    pins: Pins | None = None
    """None: nobody knows what tools were like before."""
    said: Callable[[str, str], Mode | None] = lambda _connection, _tool: None
    """What a connection itself says of a tool."""

    async def ruled(
        self,
        session: Session,
        facts_of: TellsFacts | None,
        entry: Entry,
        arguments: Mapping[str, Any],
    ) -> Ruled:
        """What becomes of a call. `facts_of`: who knows more of it, if somebody does."""
        standing = self.standing.of(session) if self.standing else ()
        said = self.said(entry.connection, entry.name)
        call = Call(entry.connection, entry.name, arguments, Facts(changed=entry.change, said=said))
        first = decide(session, call, standing)
        if isinstance(first.decision, Deny) or facts_of is None:
            return first
        try:
            facts = await facts_of.facts(session, entry.name, arguments)
        except SandgateError as error:
            log.warning("call_facts_missing", tool=entry.shown, error=str(error))
            return Ruled(Deny(UNKNOWN), "facts_missing")
        known = replace(facts, changed=entry.change, said=said)
        return decide(session, Call(entry.connection, entry.name, arguments, known), standing)

    async def held(
        self,
        session: Session,
        entry: Entry,
        arguments: Mapping[str, Any],
        ruled: Ruled,
        *,
        decision: int,
        call: str = "",
    ) -> ToolResult:
        """What the agent is told of a call that was held, at once. Raises: Unavailable."""
        reason = ruled.decision.reason
        if self.pins is not None and ruled.rule == TOOL_CHANGED:
            return await self._changed(self.pins, session, entry)
        if self.inbox is None or not isinstance(ruled.decision, Hold):
            return ToolResult(f"Refused: {reason}, and nobody can be asked here.", is_error=True)
        try:
            text = canonical(arguments)
            told = await self.inbox.ask(
                HeldCall(
                    session=session,
                    connection=entry.connection,
                    tool=entry.name,
                    shown=entry.shown,
                    arguments=arguments,
                    canonical=text,
                    sha256=hash_of(text),
                    reason=reason,
                    rule=ruled.rule,
                    decision=decision,
                    two_people=_by_two(session, entry),
                    call=call,
                )
            )
        except (Conflict, ValueError) as error:
            return ToolResult(f"Refused: {reason}; and {error}.", is_error=True)
        return ToolResult(told)

    async def _changed(self, pins: Pins, session: Session, entry: Entry) -> ToolResult:
        """No call of it is asked about: what a person has to look at is the tool."""
        try:
            return ToolResult(await pins.told(session, entry.connection, entry.name))
        except Conflict as error:
            return ToolResult(f"Refused: {error}.", is_error=True)


def _by_two(session: Session, entry: Entry) -> bool:
    rule = rule_for(session, entry.connection, entry.name)
    return rule is not None and rule.two_people
