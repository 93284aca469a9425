"""The standing rules for tool calls that are in force, at hand for the gateway."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

import structlog

from entrance.errors import SandgateError
from entrance.session import Session
from entrance.tool_policy import StandingRule
from orchestrator.approvals.ports import ApprovalStore
from orchestrator.domain.approval import Approval
from orchestrator.domain.calls import standing_of
from orchestrator.domain.kinds import CALL_RULE
from orchestrator.ports import Clock

log = structlog.get_logger()

EVERY_S = 5.0


@dataclass
class CallRules:
    """Implements `entrance.ports.StandingCalls`.

    What can't be looked up opens nothing: after an outage of the store no rule is in force until it is
    back.
    """

    store: ApprovalStore
    clock: Clock
    every_s: float = EVERY_S
    _known: tuple[tuple[Approval, StandingRule], ...] = field(init=False, repr=False, default=())

    def of(self, session: Session) -> Sequence[StandingRule]:
        now, engagement = self.clock.now(), engagement_of(session)
        return [
            rule
            for item, rule in self._known
            if item.opens(now)
            and item.is_for(session.run, engagement, session.agent, session.project)
        ]

    async def refresh(self) -> bool:
        """Take up what is stored; whether that was done."""
        try:
            found = await self.store.in_force()
        except SandgateError as error:
            log.warning("call_rules_not_read", error=str(error))
            self._known = ()
            return False
        self._known = tuple(_readable([one for one in found if one.kind == CALL_RULE]))
        return True

    async def run(self) -> None:
        """Go on until cancelled: another process may have changed them."""
        while True:
            await self.refresh()
            await asyncio.sleep(self.every_s)


def engagement_of(session: Session) -> str:
    """The engagement that a session's money comes from, which is the one that hired its agent."""
    return next((one.id for one in session.envelopes if one.kind == "engagement"), "")


def _readable(items: Sequence[Approval]) -> list[tuple[Approval, StandingRule]]:
    found = []
    for item in items:
        try:
            found.append((item, standing_of(item)))
        except (KeyError, TypeError, ValueError) as error:
            log.warning("call_rule_unreadable", item=item.id, error=str(error))
    return found
