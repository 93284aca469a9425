"""A held tool call, and the inbox with what calls need of the world."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from entrance.mcp.canonical import canonical, hash_of
from entrance.mcp.released import Released
from entrance.ports import HeldCall, Tool
from entrance.session import Session
from entrance.tool_policy import ConnectionRules, Mode, ToolRule
from orchestrator.approvals.call_rules import CallRules
from orchestrator.approvals.call_sending import CallSending
from orchestrator.approvals.calls import CallHandling, CallRuleHandling, HeldCalls
from orchestrator.approvals.deciding import Decided
from orchestrator.approvals.handling import Decision
from orchestrator.approvals.ports import Caller
from orchestrator.approvals.releasing import Releasing
from orchestrator.approvals.settling import Settling
from orchestrator.approvals.tools import ToolAsking, ToolHandling
from orchestrator.domain.approval import Approval, Verb
from orchestrator.domain.grants import session_for
from orchestrator.domain.kinds import CALL, CALL_RULE, TOOL
from orchestrator.domain.run import Outcome, Run, RunState, changed
from orchestrator.domain.team import Engagement
from tests.fakes.approvals import Inbox
from tests.fakes.audit import FakeAudit
from tests.fakes.run import a_run
from tests.fakes.tools import FakeTools
from tests.fakes.world import AGENT, ENGAGEMENT, TASK

WRITE = Tool("write", "Write a page.", {"type": "object", "required": ["page"]})
ARGUMENTS = {"page": "Home", "text": "hello"}


def engagement(rule: ToolRule | None = None) -> Engagement:
    """One that lets its agent write pages when a person allows it, or as `rule` says."""
    wiki = ConnectionRules({"write": rule or ToolRule(Mode.APPROVAL)})
    return replace(ENGAGEMENT, grants=replace(ENGAGEMENT.grants, tool_rules={"wiki": wiki}))


def session_of(run: Run) -> Session:
    return session_for(run, TASK, engagement(), address="10.0.0.2", token_sha256="0" * 64)


def a_call(run: Run, arguments: Mapping[str, Any] = ARGUMENTS, **changes: Any) -> HeldCall:
    """A call of the run that is held."""
    text = canonical(arguments)
    call = HeldCall(
        session=session_of(run),
        connection="wiki",
        tool="write",
        shown="wiki_write",
        arguments=arguments,
        canonical=text,
        sha256=hash_of(text),
        reason="every call of write waits for a person",
        rule="needs_approval",
        decision=41,
        call="call-1",
    )
    return replace(call, **changes)


@dataclass
class CallHouse:
    """The inbox, with what calls need of the world."""

    inbox: Inbox
    wiki: FakeTools = field(default_factory=lambda: FakeTools("wiki", offers=(WRITE,)))
    audit: FakeAudit = field(default_factory=FakeAudit)

    def __post_init__(self) -> None:
        self.calls = HeldCalls(self.inbox.items)
        self.rules = CallRules(self.inbox.told, self.inbox.fakes.clock)
        self.released = Released({"wiki": self.wiki}, call_timeout_s=0.05)
        self.start()

    @property
    def asking(self) -> ToolAsking:
        """Where tools are asked for."""
        return ToolAsking(self.inbox.items, self.released)

    def hire(self, hired: Engagement) -> None:
        """As it is hired from now on."""
        self.inbox.fakes.tracker.hired = {hired.id: hired}

    def start(self, caller: Caller | None = None) -> None:
        """As after a start of the process: nothing is remembered but what is stored."""
        fakes = self.inbox.fakes
        sending = CallSending(
            caller=caller or self.released,
            store=self.inbox.told,
            rules=self.rules,
            runs=fakes.runs,
            tracker=fakes.tracker,
            audit=self.audit,
        )
        settling = Settling(self.inbox.told, fakes.tracker, self.inbox.waking, {CALL: sending})
        self.releasing = Releasing(
            self.inbox.told, fakes.clock, self.audit, {CALL: sending}, settling, every_s=0.01
        )
        self.inbox.more |= {
            CALL: CallHandling(self.releasing, patience_s=5),
            CALL_RULE: CallRuleHandling(self.rules),
            TOOL: ToolHandling(self.rules, self.released),
        }

    async def running(self, **changes: Any) -> Run:
        """A run of the agent that goes on; the one before it is over."""
        if "wiki" not in self.inbox.fakes.tracker.hired[ENGAGEMENT.id].grants.tool_rules:
            self.hire(engagement())
        runs = self.inbox.fakes.runs
        for before in await runs.active():
            over = changed(before, state=RunState.ENDED, outcome=Outcome.FAILED)
            await runs.replace(over)
        who = {"task": TASK.id, "project": "DEMO", "engagement": ENGAGEMENT.id, "agent": AGENT.bot}
        run = a_run(**{**who, "state": RunState.RUNNING, **changes})
        await runs.create(run)
        return run

    async def held(self, call: HeldCall) -> str:
        """It is asked about: its item."""
        await self.calls.ask(call)
        return next(
            one.id
            for one in self.inbox.store.items.values()
            if one.wanted.get("sha256") == call.sha256 and one.run == call.session.run
        )

    def now(self, item: str) -> Approval:
        return self.inbox.store.items[item]

    async def decide(self, item: str, verb: Verb = Verb.ONCE, **more: Any) -> Decided:
        """A person decides, and what comes of it at once is waited for."""
        async with releasing(self):
            return await self.inbox.deciding.decide(item, Decision(verb, **more))


@asynccontextmanager
async def releasing(house: CallHouse) -> AsyncIterator[None]:
    """The loop goes on inside the block."""
    async with asyncio.TaskGroup() as tasks:
        loop = tasks.create_task(house.releasing.run())
        try:
            yield
        finally:
            loop.cancel()
