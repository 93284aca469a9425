"""Held tool calls: asked of people, sent when they say so; and the rules that they leave standing."""

from dataclasses import dataclass

from entrance.mcp.judging import Judge
from entrance.mcp.released import Released
from orchestrator.app.parts import Parts
from orchestrator.approvals.call_rules import CallRules
from orchestrator.approvals.call_sending import CallSending
from orchestrator.approvals.calls import CallHandling, CallRuleHandling, HeldCalls
from orchestrator.approvals.handling import Handling
from orchestrator.approvals.releasing import Releasing
from orchestrator.domain.kinds import CALL, CALL_RULE


@dataclass(frozen=True, slots=True)
class Calls:
    """What of it the listeners need, and what goes on beside them."""

    rules: CallRules
    judge: Judge
    released: Released
    sending: CallSending

    def handlings(self, releasing: Releasing) -> dict[str, Handling]:
        """What is done when a call, or a rule, is decided."""
        return {CALL: CallHandling(releasing), CALL_RULE: CallRuleHandling(self.rules)}


async def make_calls(parts: Parts) -> Calls:
    """Put it together."""
    inbox, released = parts.inbox, Released()
    rules = CallRules(inbox.store, parts.world.clock)
    await rules.refresh()
    sending = CallSending(
        caller=released,
        store=inbox.store,
        rules=rules,
        runs=parts.world.runs,
        tracker=parts.tracker,
        audit=parts.log,
    )
    return Calls(rules, Judge(rules, HeldCalls(inbox.asking.items)), released, sending)
