"""Keeps standing rules on record in Polarion, and puts back what the inbox has lost of them."""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Protocol

import structlog

from entrance.errors import Conflict, NotFound, SandgateError
from entrance.session import RunId
from orchestrator.approvals.feed import Feed
from orchestrator.approvals.ports import ApprovalStore
from orchestrator.domain.approval import Approval, ApprovalState
from orchestrator.domain.rule_record import OnRecord, read, reconciled

log = structlog.get_logger()

EVERY_S = 60.0


class RuleBook(Protocol):
    """Where the record is. Everything may raise `entrance.errors`."""

    async def recorded(self) -> Sequence[OnRecord]:
        """All engagements, with what is on record at each."""
        ...

    async def write(self, engagement: str, text: str) -> None:
        """Put this on record in place of what there is. Raises: NotFound."""
        ...


@dataclass(frozen=True, slots=True)
class Recording:
    """Level-triggered: each look begins with what is on record and what is stored."""

    store: ApprovalStore
    book: RuleBook
    feed: Feed
    restored: Callable[[], Awaitable[object]]
    """Has what was put back in force."""
    every_s: float = EVERY_S
    _unread: set[str] = field(init=False, repr=False, default_factory=set)
    """Engagements whose record can't be read, which was said."""

    async def look(self) -> None:
        """Look once. Raises: Unavailable."""
        standing: dict[str, list[Approval]] = defaultdict(list)
        for item in await self.store.in_force():
            if item.state is ApprovalState.STANDING:
                standing[item.engagement].append(item)
        back = 0
        for record in await self.book.recorded():
            back += await self._settle(record, standing.get(record.engagement, []))
        if back:
            await self.restored()

    async def run(self) -> None:
        """Look whenever something has changed, and now and then, until cancelled."""
        with self.feed.watch() as changed:
            while True:
                changed.clear()
                try:
                    await self.look()
                except SandgateError as error:
                    log.warning("standing_rules_not_recorded", error=str(error))
                with suppress(TimeoutError):
                    async with asyncio.timeout(self.every_s):
                        await changed.wait()

    async def _settle(self, record: OnRecord, standing: Sequence[Approval]) -> int:
        """One engagement's; how many rules were put back."""
        known = read(record)
        made = reconciled(
            known.rules, {one.id: await self._stored(one.id) for one in known.rules}, standing
        )
        for rule in made.restored:
            with suppress(Conflict):  # another look was faster
                await self.store.create(rule)
            log.info("standing_rule_restored", item=rule.id, engagement=record.engagement)
        if known.troubles:  # whoever wrote it has to mend it: nothing of it is to get lost
            self._say(record, known.troubles)
        elif made.text.split() != record.text.split():
            with suppress(NotFound):  # the engagement was deleted meanwhile
                await self.book.write(record.engagement, made.text)
        return len(made.restored)

    async def _stored(self, item: str) -> Approval | None:
        try:
            return await self.store.get(item)
        except NotFound:
            return None

    def _say(self, record: OnRecord, troubles: Sequence[str]) -> None:
        if record.engagement not in self._unread:
            log.warning(
                "standing_rules_unreadable", engagement=record.engagement, why="; ".join(troubles)
            )
        self._unread.add(record.engagement)


async def standing_for(store: ApprovalStore, agent: str, project: str) -> list[str]:
    """The ids of the standing rules that an agent's runs in a project have, however often it is hired."""
    return [
        item.id
        for item in await store.in_force()
        if item.state is ApprovalState.STANDING and item.is_for(RunId(""), "", agent, project)
    ]
