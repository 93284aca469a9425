"""Tools that were not granted: agents ask for them, and people open them, for the run or for longer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from entrance.ports import Tool, ToolProvider
from entrance.session import Session
from entrance.tool_policy import Mode
from orchestrator.approvals.call_rules import CallRules
from orchestrator.approvals.handling import Decision, Granted, Put, Record, scope_of
from orchestrator.approvals.items import Items, Wish
from orchestrator.domain.access import BackTest, Edits
from orchestrator.domain.approval import Approval, Verb
from orchestrator.domain.call_test import opened_test
from orchestrator.domain.kinds import TOOL, used_up
from orchestrator.domain.opened import (
    WantedTool,
    granted_json,
    trouble_asking,
    wanted_from,
    wanted_json,
    what_happens,
)


class Offered(Protocol):
    """What the connections offer; `entrance.mcp.released.Released`."""

    @property
    def providers(self) -> Mapping[str, ToolProvider]:
        """By the connection's name."""
        ...

    async def tool(self, session: Session, connection: str, tool: str) -> Tool:
        """A tool of a connection. Raises: NotFound, Unavailable."""
        ...

    def mode_of(self, connection: str, tool: str) -> Mode | None:
        """What the connection itself says of it, whoever uses it; None: nothing."""
        ...


@dataclass(frozen=True, slots=True)
class ToolAsking:
    """Takes wishes for tools."""

    items: Items
    offered: Offered

    @property
    def connections(self) -> Sequence[str]:
        """The names of all that there are."""
        return sorted(self.offered.providers)

    async def ask(self, session: Session, connection: str, tool: str, why: str) -> Approval:
        """An agent wants a tool. Asking again tells how it stands.

        Raises: ValueError (nothing that can be asked for), NotFound (no such connection or tool),
        Conflict (it asked for too much), Unavailable.
        """
        wanted = WantedTool(connection, tool)
        async with self.items.one_at_a_time:
            found, turn = await self.items.newest(session.run, TOOL, wanted.title)
            if found and not used_up(found):
                return found
            trouble = trouble_asking(session, wanted) or self._forbidden(wanted)
            if trouble:
                raise ValueError(trouble)
            offered = await self.offered.tool(session, connection, tool)
            wanted = WantedTool(connection, tool, offered.description)
            made = await self.items.made(session.run, _wish(wanted, session.agent, why), turn)
        await self.items.say(made)
        return made

    def _forbidden(self, one: WantedTool) -> str:
        return forbidden(self.offered, one)


@dataclass(frozen=True, slots=True)
class ToolHandling:
    """What is allowed is in force as soon as it is stored: who is let in has the tool by then."""

    rules: CallRules
    offered: Offered

    def granted(self, item: Approval, decision: Decision, *, live: bool) -> Granted:
        del live
        edits = decision.edits
        if edits != Edits(mode=edits.mode):
            raise ValueError(f"{item.id} is about a tool: only its mode can be chosen")
        what = granted_json(wanted_from(item.wanted), edits.mode or "write")
        if decision.verb is not Verb.RULE:
            # Not to the run alone: a harness that reads its tools once has it in the next one.
            return Granted(what)
        return Granted(what, scope=scope_of(item, decision.scope), until=decision.until)

    async def forbidden(self, item: Approval, granted: Granted) -> str:
        del granted
        return forbidden(self.offered, wanted_from(item.wanted))

    async def tried(self, item: Approval, edits: Edits, record: Record) -> BackTest:
        del edits
        calls = await record.recorded.calls(record.since)
        return opened_test(wanted_from(item.wanted), calls, record.denied)

    async def put(self, before: Approval, after: Approval) -> Put:
        del before
        return Put(after, await self.rules.refresh())


def forbidden(offered: Offered, one: WantedTool) -> str:
    """Why no person can open it, as a sentence without its end; empty when one can."""
    if offered.mode_of(one.connection, one.tool) is not Mode.FORBIDDEN:
        return ""
    return f"{one.tool} is forbidden to all who use {one.connection}: nobody can open it"


def _wish(one: WantedTool, agent: str, why: str) -> Wish:
    return Wish(
        kind=TOOL,
        exact=WantedTool(one.connection, one.tool).title,
        title=one.title,
        happens=what_happens(one, agent),
        wanted=wanted_json(one),
        why=why,
        cause={"asked_by": "request_access"},
    )
