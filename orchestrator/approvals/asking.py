"""Wishes for the internet become items."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from entrance.session import RunId
from orchestrator.approvals.items import Items, Wish
from orchestrator.domain.access import Wanted, wanted, wanted_json
from orchestrator.domain.approval import Approval, ApprovalState
from orchestrator.domain.inbox import what_happens
from orchestrator.domain.kinds import EGRESS, used_up


@dataclass(frozen=True, slots=True)
class Asking:
    """Takes wishes."""

    items: Items

    async def ask(self, run: RunId, place: str, method: str, why: str) -> Approval:
        """An agent wants to reach a URL or a host. Asking again tells how it stands.

        Raises: ValueError (nothing that can be asked for), Conflict (it asked for too much).
        """
        one = wanted(place, method)
        async with self.items.one_at_a_time:
            found, turn = await self.items.newest(run, EGRESS, one.title)
            if found and found.state is ApprovalState.ALLOWED_ONCE and not found.told:
                told = replace(found, told=True, version=found.version + 1)
                await self.items.store.replace(told)
                return told
            if found and not used_up(found):
                return found
            wish = _wish(one, why, {"asked_by": "request_access"})
            made = await self.items.made(run, wish, turn)
        await self.items.say(made)
        return made

    async def held(self, run: RunId, url: str, method: str, cause: Mapping[str, Any]) -> Approval:
        """A request was held by a rule, so nothing that was allowed is left for it. Raises as `ask`."""
        one = wanted(url, method)
        async with self.items.one_at_a_time:
            found, turn = await self.items.newest(run, EGRESS, one.title)
            if found and not used_up(replace(found, told=True)):
                return found
            made = await self.items.made(run, _wish(one, "", cause), turn)
        await self.items.say(made)
        return made


def _wish(one: Wanted, why: str, cause: Mapping[str, Any]) -> Wish:
    return Wish(
        kind=EGRESS,
        exact=one.title,
        title=one.title,
        happens=what_happens(one),
        wanted=wanted_json(one),
        why=why,
        cause=cause,
    )
