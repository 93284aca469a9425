"""What people have allowed of tools and is in force, at hand for the door: standing rules, opened tools."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import structlog

from entrance.errors import SandgateError
from entrance.session import RunId, Session
from entrance.tool_policy import StandingRule
from orchestrator.approvals.ports import ApprovalStore
from orchestrator.domain.approval import OF_A_RUN, Approval
from orchestrator.domain.calls import standing_of
from orchestrator.domain.kinds import CALL_RULE, TOOL
from orchestrator.domain.opened import OpenedTool, opened_of, with_tools
from orchestrator.ports import Clock

log = structlog.get_logger()

EVERY_S = 5.0


@dataclass
class CallRules:
    """Implements `entrance.ports.StandingCalls`.

    What can't be looked up opens nothing: after an outage of the store nothing of it is in force until
    it is back.
    """

    store: ApprovalStore
    clock: Clock
    every_s: float = EVERY_S
    _known: tuple[tuple[Approval, StandingRule], ...] = field(init=False, repr=False, default=())
    _tools: tuple[tuple[Approval, OpenedTool], ...] = field(init=False, repr=False, default=())
    _wider: dict[RunId, tuple[Session, tuple[OpenedTool, ...], Session]] = field(
        init=False, repr=False, default_factory=dict
    )
    """By run: a session, what is opened to it, and what it is with that."""

    def of(self, session: Session) -> Sequence[StandingRule]:
        return [rule for item, rule in self._known if self._is_for(item, session)]

    def with_opened(self, session: Session) -> Session:
        """The session with the tools that people have opened to it besides; itself, where there are none."""
        opened = tuple(tool for item, tool in self._tools if self._is_for(item, session))
        if not opened:
            return session
        before, same, wider = self._wider.get(session.run, (None, (), session))
        if before is not session or same != opened:
            wider = with_tools(session, opened)
            self._wider[session.run] = session, opened, wider
        return wider

    def _is_for(self, item: Approval, session: Session) -> bool:
        if not item.opens(self.clock.now()):
            return False
        unclaimed = item.state in OF_A_RUN and not item.granted_to and item.task == session.task
        engagement = engagement_of(session)
        return unclaimed or item.is_for(session.run, engagement, session.agent, session.project)

    async def refresh(self) -> bool:
        """Take up what is stored; whether that was done."""
        try:
            found = await self.store.in_force()
        except SandgateError as error:
            log.warning("call_rules_not_read", error=str(error))
            self._known, self._tools = (), ()
            return False
        self._known = tuple(_readable(found, CALL_RULE, standing_of))
        self._tools = tuple(_readable(found, TOOL, opened_of))
        if not self._tools:
            self._wider.clear()
        return True

    async def run(self) -> None:
        """Go on until cancelled: another process may have changed them."""
        while True:
            await self.refresh()
            await asyncio.sleep(self.every_s)


def engagement_of(session: Session) -> str:
    """The engagement that a session's money comes from, which is the one that hired its agent."""
    return next((one.id for one in session.envelopes if one.kind == "engagement"), "")


def _readable[T](
    items: Sequence[Approval], kind: str, read: Callable[[Approval], T]
) -> list[tuple[Approval, T]]:
    found = []
    for item in items:
        if item.kind != kind:
            continue
        try:
            found.append((item, read(item)))
        except (KeyError, TypeError, ValueError) as error:
            log.warning("call_rule_unreadable", item=item.id, error=str(error))
    return found
