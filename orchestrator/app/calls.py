"""Held tool calls and changed tools, asked of people; the rules that they leave; opened tools."""

from dataclasses import dataclass

from entrance.mcp.judging import Judge
from entrance.mcp.released import Released
from entrance.registry import SessionRegistry
from entrance.session import Ended, Session
from orchestrator.adapters.pocketbase.pins import PocketBasePins
from orchestrator.adapters.polarion.rule_book import PolarionRuleBook
from orchestrator.app.parts import Parts
from orchestrator.approvals.call_rules import CallRules
from orchestrator.approvals.call_sending import CallSending
from orchestrator.approvals.calls import CallHandling, CallRuleHandling, HeldCalls
from orchestrator.approvals.handling import Handling
from orchestrator.approvals.pins import ChangeHandling, ToolPins
from orchestrator.approvals.releasing import Releasing
from orchestrator.approvals.rule_record import Recording
from orchestrator.approvals.tools import ToolAsking, ToolHandling
from orchestrator.domain.kinds import CALL, CALL_RULE, TOOL, TOOL_CHANGE


@dataclass(frozen=True, slots=True)
class Calls:
    """What of it the listeners need, and what goes on beside them."""

    rules: CallRules
    judge: Judge
    released: Released
    sending: CallSending
    asking: ToolAsking
    pins: ToolPins

    def handlings(self, releasing: Releasing) -> dict[str, Handling]:
        """What is done when a call, a rule, a wish for a tool, or a changed one is decided."""
        return {
            CALL: CallHandling(releasing),
            CALL_RULE: CallRuleHandling(self.rules),
            TOOL: ToolHandling(self.rules, self.released),
            TOOL_CHANGE: ChangeHandling(self.pins),
        }

    def sessions(self, registry: SessionRegistry) -> "OpenedSessions":
        """The open sessions, as the door is to have them."""
        return OpenedSessions(registry, self.rules)


@dataclass(frozen=True, slots=True)
class OpenedSessions:
    """Implements `entrance.app.OpenSessions`: with the tools that people have opened to each besides."""

    registry: SessionRegistry
    rules: CallRules

    def find(self, token_sha256: str) -> Session | Ended | None:
        found = self.registry.find(token_sha256)
        return self.rules.with_opened(found) if isinstance(found, Session) else found

    def at(self, address: str) -> Session | None:
        return self.registry.at(address)


async def make_calls(parts: Parts) -> Calls:
    """Put it together."""
    inbox = parts.inbox
    pins = ToolPins(inbox.asking.items, PocketBasePins(parts.store))
    released = Released(pins=pins)
    rules = CallRules(inbox.store, parts.world.clock)
    await rules.refresh()
    sending = CallSending(
        caller=released,
        store=inbox.store,
        rules=rules,
        runs=parts.world.runs,
        tracker=parts.tracker,
        audit=parts.log,
        redacted=parts.vault.redacted,
    )
    items = inbox.asking.items
    judge = Judge(rules, HeldCalls(items), pins)
    return Calls(rules, judge, released, sending, ToolAsking(items, released), pins)


def recording_of(parts: Parts) -> Recording:
    """What keeps standing rules on record."""
    inbox = parts.inbox
    book = PolarionRuleBook(parts.polarion.as_service())
    return Recording(inbox.store, book, inbox.feed, inbox.keeping.apply)
