"""Items are made: one a run and wish, however often it is asked for; so many a run, and no more."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import structlog

from entrance.errors import Conflict, NotFound, Unavailable
from entrance.ports import Causes
from entrance.session import RunId
from orchestrator.approvals.ports import ApprovalStore
from orchestrator.domain.access import item_id
from orchestrator.domain.approval import OPEN, Approval
from orchestrator.domain.inbox import comment_when_asked
from orchestrator.ports import Clock, Runs, Tracker

log = structlog.get_logger()

MOST_A_RUN = 20
"""Items that one run can have in all: an inbox that is flooded is one that nobody reads."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What a run wants, as its kind has it; `exact` tells it from every other."""

    kind: str
    exact: str
    title: str
    happens: str
    wanted: Mapping[str, Any]
    why: str = ""
    cause: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Items:
    """Makes them, for all kinds."""

    store: ApprovalStore
    runs: Runs
    tracker: Tracker
    clock: Clock
    causes: Causes | None = None
    """What each run is doing; None where nobody knows."""
    one_at_a_time: asyncio.Lock = field(init=False, repr=False, default_factory=asyncio.Lock)
    """Else a run that wants many things at once would have more items than it may."""

    async def newest(self, run: RunId, kind: str, exact: str) -> tuple[Approval | None, int]:
        """The last item of this wish, and how many of it there are.

        Raises: Conflict when there is none, and the run may have no more.
        """
        known = {item.id: item for item in await self.store.of_run(run)}
        turn, last = 0, None
        while found := known.get(item_id(run, kind, exact, turn)):
            turn, last = turn + 1, found
        if last is None and len(known) >= MOST_A_RUN:
            raise Conflict(f"this run has asked {len(known)} times; wait for what people decide")
        return last, turn

    async def made(self, run: RunId, wish: Wish, turn: int) -> Approval:
        """A new item. Raises: NotFound when there is no such run."""
        who = await self.runs.get(run)
        item = Approval(
            id=item_id(run, wish.kind, wish.exact, turn),
            kind=wish.kind,
            run=run,
            task=who.task,
            project=who.project,
            agent=who.agent,
            engagement=who.engagement,
            wanted=wish.wanted,
            title=wish.title,
            happens=wish.happens,
            why=wish.why.strip(),
            asked_at=self.clock.now(),
            cause={**self._open_in(run), **wish.cause},
        )
        try:
            await self.store.create(item)
        except Conflict:  # the answer to an earlier try was lost
            return await self.store.get(item.id)
        log.info("approval_asked", item=item.id, run=run, wanted=item.title)
        return item

    async def waiting(self, run: RunId) -> Sequence[Approval]:
        """The run's items of which it isn't clear yet what comes of them. Raises: Unavailable."""
        return [one for one in await self.store.of_run(run) if one.state in OPEN]

    async def say(self, item: Approval) -> None:
        """On the task, that it waits."""
        try:
            await self.tracker.comment(item.task, *comment_when_asked(item))
        except (NotFound, Unavailable) as error:  # it is in the inbox all the same
            log.warning("approval_not_said", item=item.id, error=str(error))

    def _open_in(self, run: RunId) -> dict[str, Any]:
        """What of the run is open now, as far as it is known."""
        known = self.causes.of(run) if self.causes else None
        facts = asdict(known) if known else {}
        return {name: fact for name, fact in facts.items() if fact not in (None, "", 0)}
