"""The turn of a run that led to an item of the inbox: what its model had just said and called."""

from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any

from entrance.session import RunId
from orchestrator.ports import Event

BACK = 200
"""So many events before are looked at."""
AHEAD = 20
"""And after: what a harness says of a call may be heard of later than the call itself."""
LONGEST = 4000

type Events = Callable[[RunId, int], AsyncIterator[Event]]
"""A run's events after a number."""


async def turn_of(events: Events, run: RunId, cause: Mapping[str, Any]) -> dict[str, Any] | None:
    """`{step, at, said, call}`: the newest words before the step, and the tool call of it.

    None where it isn't known which step it was, or nothing of it is stored.
    """
    step = cause.get("step")
    if not isinstance(step, int):
        return None
    said: Event | None = None
    called: Event | None = None
    async for event in events(run, max(step - BACK, 0) - 1):
        if event.seq > step + AHEAD:
            break
        if event.kind == "text" and event.seq <= step:
            said = event
        if event.kind == "tool_call" and _is_of(event, step, str(cause.get("call", ""))):
            called = event
    first = said or called
    if first is None:
        return None
    return {
        "step": first.seq,
        "at": first.at.isoformat(),
        "said": str(said.data.get("text", ""))[:LONGEST] if said else "",
        "call": str(called.data.get("name", ""))[:LONGEST] if called else "",
    }


def _is_of(event: Event, step: int, call: str) -> bool:
    return event.data.get("id") == call if call else event.seq == step
