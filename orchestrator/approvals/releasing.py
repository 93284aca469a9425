"""What a person has allowed is sent, once, through whatever happens meanwhile.

Level-triggered: what is under way is looked at until it is settled, each look beginning with what is
stored and with what the far side says. So a crash at any step is made good by the next look.
"""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

import structlog

from entrance.errors import Conflict, Forbidden, Malformed, NotFound, SandgateError, Unavailable
from entrance.git.standing import Place, Stand
from entrance.log.records import Audit, Outcome
from orchestrator.approvals.handling import Put
from orchestrator.approvals.ports import UNREADABLE, ApprovalStore, Heard, Sending
from orchestrator.approvals.settling import Settling
from orchestrator.domain.approval import OPEN, UNDER_WAY, Approval, ApprovalState, Verb
from orchestrator.domain.kinds import kind_of, moved_on
from orchestrator.domain.release import Later, Seen, Send, Settle, Step, next_step, pause_after
from orchestrator.ports import Clock

log = structlog.get_logger()

EVERY_S = 5.0
OWED_EVERY_S = 60.0
AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class Settled:
    """An item that is over, or as far as it came; whether its task goes on by it."""

    item: Approval
    woken: bool = False


@dataclass
class Releasing:
    """Sends it."""

    store: ApprovalStore
    clock: Clock
    audit: Audit
    sendings: Mapping[str, Sending]
    """By kind."""
    settling: Settling
    every_s: float = EVERY_S
    _told: asyncio.Event = field(init=False, repr=False, default_factory=asyncio.Event)
    _busy: set[str] = field(init=False, repr=False, default_factory=set)
    _tries: dict[str, tuple[int, datetime]] = field(init=False, repr=False, default_factory=dict)
    """How often each was looked at in vain, and when it is to be looked at again."""
    _waits: dict[str, "asyncio.Future[Settled]"] = field(
        init=False, repr=False, default_factory=dict
    )
    _owed_at: datetime | None = field(init=False, repr=False, default=None)

    async def settled(self, item: Approval, patience_s: float) -> Settled:
        """Have it sent now, and wait so long for what comes of it; it goes on in any case."""
        wait = self._waits.setdefault(item.id, asyncio.get_running_loop().create_future())
        self._tries.pop(item.id, None)
        self._told.set()
        try:
            async with asyncio.timeout(patience_s):
                return await asyncio.shield(wait)
        except TimeoutError:
            with suppress(SandgateError):
                return Settled(await self.store.get(item.id))
            return Settled(item)
        finally:
            self._waits.pop(item.id, None)

    async def put(self, item: Approval, patience_s: float) -> Put:
        """Put into force what was decided about an item, and wait so long for what comes of it."""
        if item.state not in UNDER_WAY:
            woken = await self.settling.finish(item)
            return Put(item, in_force=True, told=True, woken=woken)
        come = await self.settled(item, patience_s)
        if come.item.state in UNDER_WAY:
            return Put(come.item, in_force=False)
        return Put(come.item, in_force=True, told=True, woken=come.woken)

    async def run(self) -> None:
        """Go on until cancelled; an outage is for the next look."""
        async with asyncio.TaskGroup() as tasks:
            while True:
                self._told.clear()
                try:
                    for item in await self._due():
                        self._busy.add(item.id)
                        tasks.create_task(self._one(item.id))
                    await self._make_good()
                except SandgateError as error:
                    log.warning("releases_not_looked_at", error=str(error))
                with suppress(TimeoutError):
                    async with asyncio.timeout(self.every_s):
                        await self._told.wait()

    async def look(self) -> None:
        """Look at all that is due, once, one after the other. Raises: Unavailable."""
        for item in await self._due():
            self._busy.add(item.id)
            await self._one(item.id)
        await self._make_good()

    async def _due(self) -> list[Approval]:
        now = self.clock.now()
        found = [one for state in UNDER_WAY for one in await self.store.listed(state, AT_ONCE)]
        return [
            one
            for one in found
            if one.kind in self.sendings
            and one.id not in self._busy
            and (one.id not in self._tries or self._tries[one.id][1] <= now)
        ]

    async def _make_good(self) -> None:
        """What is still owed of those that are over, and what nobody needs any more."""
        now = self.clock.now()
        if self._owed_at and (now - self._owed_at).total_seconds() < OWED_EVERY_S:
            return
        await self.settling.make_good()
        needed = [one for state in OPEN for one in await self.store.listed(state, AT_ONCE)]
        if len(needed) < AT_ONCE:  # else some of them were not listed
            for kind, sending in self.sendings.items():
                await sending.sweep([one for one in needed if one.kind == kind])
        self._owed_at = now

    async def _one(self, name: str) -> None:
        try:
            item = await self.store.get(name)
            step = next_step(await self._see(item))
            await self._do(item, step)
        except Conflict:  # another was faster
            self._again(name)
        except (SandgateError, *UNREADABLE) as error:
            log.warning("release_postponed", item=name, error=str(error))
            self._again(name)
        finally:
            self._busy.discard(name)

    async def _do(self, item: Approval, step: Step, heard: Heard | None = None) -> None:
        match step:
            case Send():
                await self._send(item)
            case Settle():
                await self._settle(item, step, heard)
            case Later():
                await self._postpone(item, step)

    async def _see(self, item: Approval) -> Seen:
        """Find out what has to be known, and no more: what may not be sent is not asked about."""
        sending = self.sendings[item.kind]
        seen = self._seen(item)
        try:
            if item.state is ApprovalState.ALLOWED:
                seen = replace(seen, refused=await sending.may(item))
                return seen if seen.refused else replace(seen, stand=await sending.stand(item))
            seen = replace(seen, stand=await sending.stand(item))
            if seen.stand and seen.stand.place is Place.BEFORE:
                seen = replace(seen, refused=await sending.may(item))
        except (Unavailable, Forbidden, NotFound, Malformed) as error:
            return replace(seen, stand=None, trouble=str(error))
        return seen

    def _seen(self, item: Approval) -> Seen:
        sent_at = item.came.get("sent_at")
        return Seen(
            state=item.state,
            now=self.clock.now(),
            allowed_at=item.decided_at or item.asked_at,
            sent_at=datetime.fromisoformat(sent_at) if sent_at else None,
        )

    async def _send(self, item: Approval) -> None:
        """Recorded, claimed, sent: in this order, so that what may have been sent is known as such."""
        sending = self.sendings[item.kind]
        remembered = await sending.claim(item)
        number = await self.audit.decided(sending.record(item))
        sent_at = self.clock.now().isoformat()
        came = {**item.came, **remembered, "decision": number, "sent_at": sent_at, "words": ""}
        claimed = moved_on(item, Verb.CLAIM, came)
        await self.store.replace(claimed)
        log.info("release_begun", item=item.id, kind=item.kind, run=item.run)
        try:
            heard = await sending.send(claimed)
        except (NotFound, Conflict, Forbidden) as error:
            await self._settle(claimed, Settle(Verb.FAIL, str(error)), None)
            return
        if heard.verb is Verb.ARRIVE:
            await self._settle(claimed, Settle(Verb.ARRIVE, heard.words), heard)
            return
        await self._after_all(claimed, heard)

    async def _after_all(self, claimed: Approval, heard: Heard) -> None:
        """Refused, or not heard of: it may have arrived all the same."""
        stand: Stand | None = None
        trouble = heard.words
        try:
            stand = await self.sendings[claimed.kind].stand(claimed)
        except (Unavailable, Forbidden, NotFound, Malformed) as error:
            trouble = str(error)
        arrived = stand is not None and stand.place is Place.AFTER
        if heard.verb is Verb.FAIL and stand is not None and not arrived:
            await self._settle(claimed, Settle(Verb.FAIL, heard.words), heard)
            return
        seen = replace(self._seen(claimed), stand=stand, trouble=trouble)
        await self._do(claimed, next_step(seen), heard)

    async def _settle(self, item: Approval, step: Settle, heard: Heard | None) -> None:
        came = await self._recorded(item, step, heard)
        after = moved_on(item, step.verb, {**item.came, **came, "words": step.words})
        await self.store.replace(after)
        log.info("release_settled", item=item.id, state=after.state)
        self._tries.pop(item.id, None)
        woken = await self.settling.finish(after)
        wait = self._waits.get(item.id)
        if wait and not wait.done():
            wait.set_result(Settled(after, woken))

    async def _recorded(
        self, item: Approval, step: Settle, heard: Heard | None
    ) -> Mapping[str, Any]:
        """Have the log say what came of it; what the item is to say of that."""
        sending, arrived = self.sendings[item.kind], step.verb is Verb.ARRIVE
        number = item.came.get("decision")
        if number is None and not arrived:  # it was never sent, and isn't
            refused = sending.record(item, step.words)
            return {"decision": await self.audit.decided(refused)}
        if number is None:
            number = await self.audit.decided(sending.record(item))
        told = sending.told(item, step.verb, step.words)
        detail = heard.detail if heard and heard.verb is step.verb else told
        traffic = heard.traffic if heard else None
        await self.audit.came_of_it(
            Outcome(number, kind_of(item).results[step.verb], detail, traffic)
        )
        return {"decision": number, "detail": dict(detail)}

    async def _postpone(self, item: Approval, step: Later) -> None:
        self._again(item.id)
        came = {**item.came, "words": step.words}
        if step.lost and item.state is ApprovalState.RELEASING:
            lost = moved_on(item, Verb.LOSE, came)
            await self.store.replace(lost)
            await self.settling.say(lost)
        elif item.came.get("words") != step.words:
            await self.store.replace(replace(item, came=came, version=item.version + 1))
        log.info("release_waits", item=item.id, why=step.words)

    def _again(self, name: str) -> None:
        tries = self._tries.get(name, (0, self.clock.now()))[0]
        self._tries[name] = (tries + 1, self.clock.now() + pause_after(tries))
