"""Tools of servers are remembered as they were first granted; about one that has changed people are asked."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import structlog

from entrance.errors import Conflict, NotFound, SandgateError
from entrance.ports import Pinned
from entrance.session import Session
from orchestrator.approvals.handling import Decision, Granted, Put, WithoutRules
from orchestrator.approvals.items import Items, Wish
from orchestrator.approvals.ports import PinStore
from orchestrator.domain.access import Edits
from orchestrator.domain.approval import Approval, ApprovalState
from orchestrator.domain.inbox import answer_to_agent
from orchestrator.domain.kinds import TOOL_CHANGE
from orchestrator.domain.pins import (
    Changed,
    Pin,
    Verdicts,
    changed,
    changes_in,
    compared,
    pin_of,
    shares,
    title_of,
    verdicts_of,
    wanted_json,
    what_happens,
)

log = structlog.get_logger()

LOOKED_AT = 1000
"""So many of the newest items that wait, or were denied, are looked at."""


@dataclass
class ToolPins:
    """Implements `entrance.ports.Pins`.

    What can't be looked up is not known: then a connection's tools can't be used.
    """

    items: Items
    store: PinStore
    turn: int = 0
    _pins: dict[str, dict[str, Pin]] = field(init=False, repr=False, default_factory=dict)
    """By connection and tool."""
    _verdicts: Verdicts | None = field(init=False, repr=False, default=None)
    """None: they have to be looked up."""
    _alone: asyncio.Lock = field(init=False, repr=False, default_factory=asyncio.Lock)
    """Else two runs that see a tool for the first time would not see the same."""

    async def compared(
        self, session: Session, connection: str, tools: Sequence[Mapping[str, Any]]
    ) -> Mapping[str, Pinned]:
        async with self._alone:
            pins = await self._known(connection, tools)
            verdicts = self._verdicts or await self._looked_up()
            mine = [(pins[each["name"]], each) for each in tools]
            found = {pin.tool: compared(pin, verdicts, each) for pin, each in mine}
            changes = [
                changed(pin, verdicts, each)
                for pin, each in mine
                if found[pin.tool].change == "unseen"
            ]
            if changes:
                await self._ask(session, connection, changes)
        return found

    async def told(self, session: Session, connection: str, tool: str) -> str:
        del session
        for item in await self._waiting(connection):
            if any(each.tool == tool for each in changes_in(item)):
                return answer_to_agent(item)
        raise Conflict(f"{tool} has changed, and nobody could be asked to look at it")

    async def refresh(self) -> bool:
        """Take up what was decided; whether that was done."""
        self._verdicts = None
        self.turn += 1
        try:
            await self._looked_up()
        except SandgateError as error:
            log.warning("verdicts_not_read", error=str(error))
            return False
        return True

    async def _known(
        self, connection: str, tools: Sequence[Mapping[str, Any]]
    ) -> Mapping[str, Pin]:
        """The connection's pins, with one for each of these tools."""
        if connection not in self._pins:
            await self._read(connection)
        known, now = self._pins[connection], self.items.clock.now()
        fresh = [pin_of(connection, each, now) for each in tools if each["name"] not in known]
        if fresh:
            with suppress(Conflict):  # another process was faster, or an answer was lost
                await self.store.create(fresh)
            await self._read(connection)
        return self._pins[connection]

    async def _read(self, connection: str) -> None:
        found = await self.store.of_connection(connection)
        self._pins[connection] = {pin.tool: pin for pin in found}

    async def _looked_up(self) -> Verdicts:
        accepted = await self.items.store.in_force()
        denied = await self.items.store.listed(ApprovalState.DENIED, LOOKED_AT)
        self._verdicts = verdicts_of([*accepted, *denied])
        return self._verdicts

    async def _waiting(self, connection: str) -> list[Approval]:
        found = await self.items.store.listed(ApprovalState.WAITING, LOOKED_AT)
        return [
            one
            for one in found
            if one.kind == TOOL_CHANGE and one.wanted["connection"] == connection
        ]

    async def _ask(self, session: Session, connection: str, changes: Sequence[Changed]) -> None:
        """One item for all that nobody was asked about yet; of one tool no more than one waits.

        What can't be asked stays held.
        """
        waiting = await self._waiting(connection)
        asked = {each.tool for item in waiting for each in changes_in(item)}
        shared, too_long = shares(each for each in changes if each.tool not in asked)
        for each in too_long:
            log.warning("changed_tool_too_long", connection=connection, tool=each.tool)
        for share in shared:
            try:
                item = await self.items.made(session.run, self._wish(connection, share), 0)
            except NotFound:
                log.warning("changed_tool_not_asked", connection=connection, run=session.run)
                return
            log.warning("tool_changed", item=item.id, wanted=item.title, run=session.run)
            await self.items.say(item)

    def _wish(self, connection: str, share: Sequence[Changed]) -> Wish:
        texts = "\n".join(f"{each.tool} {each.sha256}" for each in share)
        return Wish(
            kind=TOOL_CHANGE,
            exact=f"{connection}\n{texts}\n{self.items.clock.now().isoformat()}",
            title=title_of(connection, share),
            happens=what_happens(connection, share),
            wanted=wanted_json(connection, share),
            cause={"asked_by": f"what {connection} lists"},
        )


@dataclass(frozen=True, slots=True)
class ChangeHandling(WithoutRules):
    """Changed tools: what is accepted counts for the connection, whoever is hired."""

    pins: ToolPins

    def granted(self, item: Approval, decision: Decision, *, live: bool) -> Granted:
        del live
        if decision.edits != Edits():
            raise ValueError(f"{item.id} is a tool: it is accepted as it is now, or denied")
        return Granted({each.tool: each.sha256 for each in changes_in(item)})

    async def put(self, before: Approval, after: Approval) -> Put:
        del before
        return Put(after, await self.pins.refresh())
