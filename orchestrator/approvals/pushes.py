"""Pushes that the git door holds become items, and what people decide about them is done."""

from dataclasses import dataclass

from entrance.errors import Conflict
from entrance.ports import HeldPush
from orchestrator.approvals.handling import Decision, Granted, Put, WithoutRules
from orchestrator.approvals.items import Items, Wish
from orchestrator.approvals.ports import KeptPushes
from orchestrator.approvals.releasing import Releasing
from orchestrator.domain.access import Edits
from orchestrator.domain.approval import OPEN, Approval
from orchestrator.domain.inbox import answer_to_agent
from orchestrator.domain.kinds import PUSH, used_up
from orchestrator.domain.push import (
    Wanted,
    held_of,
    identity_of,
    kept_of,
    title_of,
    wanted_from,
    wanted_json,
    wanted_of,
    what_happens,
)

MOST_BYTES_A_TASK = 2 << 30
"""So much may be kept for pushes of one task that nobody has decided about."""
PATIENCE_S = 10.0
"""So long whoever allows a push waits to hear what came of it; it goes on in any case."""


@dataclass(frozen=True, slots=True)
class HeldPushes:
    """Implements `entrance.ports.PushInbox`."""

    items: Items
    kept: KeptPushes

    async def ask(self, push: HeldPush) -> str:
        one = wanted_of(push)
        run, exact = push.session.run, identity_of(one)
        async with self.items.one_at_a_time:
            found, turn = await self._known(push, exact)
            if found and not used_up(found):
                if kept_of(found) != push.id or found.state not in OPEN:
                    await self.kept.drop(push.id)
                return answer_to_agent(found)
            made = await self.items.made(run, _wish(one, exact), turn)
        await self.items.say(made)
        return answer_to_agent(made)

    async def _known(self, push: HeldPush, exact: str) -> tuple[Approval | None, int]:
        """The item that the push is of: an open one of any run of the task, else this run's newest.

        Raises: Conflict when the run, or its task, may have no more.
        """
        found, turn = await self.items.newest(push.session.run, PUSH, exact)
        if found and not used_up(found):
            return found, turn
        task = await self.items.store.of_task(push.session.task)
        held = [(item, one) for item, one in held_of(task) if item.state in OPEN]
        same = next((item for item, one in held if identity_of(one) == exact), None)
        kept_bytes = sum(one.size_bytes for _, one in held)
        if same is None and kept_bytes + push.size_bytes > MOST_BYTES_A_TASK:
            raise Conflict("too much is held of this task already; wait for what people decide")
        return same or found, turn


@dataclass(frozen=True, slots=True)
class PushHandling(WithoutRules):
    """Pushes: what is allowed is the kept bytes, sent once."""

    releasing: Releasing
    patience_s: float = PATIENCE_S

    def granted(self, item: Approval, decision: Decision, *, live: bool) -> Granted:
        del live
        if decision.edits != Edits():
            raise ValueError(
                f"{item.id} is a push: it is allowed as it was pushed, without changes"
            )
        one = wanted_from(item.wanted)
        return Granted({"sha256": one.sha256, "moved": item.wanted["moved"]})

    async def put(self, before: Approval, after: Approval) -> Put:
        del before
        return await self.releasing.put(after, self.patience_s)


def _wish(one: Wanted, exact: str) -> Wish:
    return Wish(
        kind=PUSH,
        exact=exact,
        title=title_of(one),
        happens=what_happens(one),
        wanted=wanted_json(one),
        cause={"asked_by": "git push"},
    )
