"""Wishes become items: one a run and wish, however often it is asked for."""

import asyncio
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import structlog

from entrance.errors import Conflict, NotFound, Unavailable
from entrance.ports import Causes
from entrance.session import RunId
from orchestrator.approvals.ports import ApprovalStore
from orchestrator.domain.access import Wanted, item_id, wanted, wanted_json
from orchestrator.domain.approval import EGRESS, Approval, ApprovalState, used_up
from orchestrator.domain.inbox import comment_when_asked, what_happens
from orchestrator.ports import Clock, Runs, Tracker

log = structlog.get_logger()

MOST_A_RUN = 20
"""Items that one run can have in all: an inbox that is flooded is one that nobody reads."""


@dataclass(frozen=True, slots=True)
class Asking:
    """Takes wishes."""

    store: ApprovalStore
    runs: Runs
    tracker: Tracker
    clock: Clock
    causes: Causes | None = None
    """What each run is doing; None where nobody knows."""
    _one_at_a_time: asyncio.Lock = field(init=False, repr=False, default_factory=asyncio.Lock)
    """Else a run that wants many things at once would have more items than it may."""

    async def ask(self, run: RunId, place: str, method: str, why: str) -> Approval:
        """An agent wants to reach a URL or a host. Asking again tells how it stands.

        Raises: ValueError (nothing that can be asked for), Conflict (it asked for too much).
        """
        one = wanted(place, method)
        async with self._one_at_a_time:
            found, turn = await self._newest(run, one)
            if found and found.state is ApprovalState.ALLOWED_ONCE and not found.told:
                told = replace(found, told=True, version=found.version + 1)
                await self.store.replace(told)
                return told
            if found and not used_up(found):
                return found
            made = await self._made(run, one, turn, why=why, cause={"asked_by": "request_access"})
        await self._say(made)
        return made

    async def held(self, run: RunId, url: str, method: str, cause: Mapping[str, Any]) -> Approval:
        """A request was held by a rule, so nothing that was allowed is left for it. Raises as `ask`."""
        one = wanted(url, method)
        async with self._one_at_a_time:
            found, turn = await self._newest(run, one)
            if found and not used_up(replace(found, told=True)):
                return found
            made = await self._made(run, one, turn, why="", cause=cause)
        await self._say(made)
        return made

    def _open_in(self, run: RunId) -> dict[str, Any]:
        """What of the run is open now, as far as it is known."""
        known = self.causes.of(run) if self.causes else None
        facts = asdict(known) if known else {}
        return {name: fact for name, fact in facts.items() if fact not in (None, "", 0)}

    async def _newest(self, run: RunId, one: Wanted) -> tuple[Approval | None, int]:
        """The last item of this wish, and how many of it there are."""
        known = {item.id: item for item in await self.store.of_run(run)}
        turn, last = 0, None
        while found := known.get(item_id(run, EGRESS, one.title, turn)):
            turn, last = turn + 1, found
        if last is None and len(known) >= MOST_A_RUN:
            raise Conflict(f"this run has asked {len(known)} times; wait for what people decide")
        return last, turn

    async def _made(
        self, run: RunId, one: Wanted, turn: int, *, why: str, cause: Mapping[str, Any]
    ) -> Approval:
        who = await self.runs.get(run)
        item = Approval(
            id=item_id(run, EGRESS, one.title, turn),
            kind=EGRESS,
            run=run,
            task=who.task,
            project=who.project,
            agent=who.agent,
            engagement=who.engagement,
            wanted=wanted_json(one),
            title=one.title,
            happens=what_happens(one),
            why=why.strip(),
            asked_at=self.clock.now(),
            cause={**self._open_in(run), **cause},
        )
        try:
            await self.store.create(item)
        except Conflict:  # the answer to an earlier try was lost
            return await self.store.get(item.id)
        log.info("approval_asked", item=item.id, run=run, wanted=item.title)
        return item

    async def _say(self, item: Approval) -> None:
        try:
            await self.tracker.comment(item.task, *comment_when_asked(item))
        except (NotFound, Unavailable) as error:  # it is in the inbox all the same
            log.warning("approval_not_said", item=item.id, error=str(error))
