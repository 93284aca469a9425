"""What a run is doing now, as its harness's events tell it [pure].

Events come from a sandbox: ids and names are cut, and only so many calls are kept.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from entrance.ports import Cause
from orchestrator.ports import Event

LONGEST = 200
MOST = 64
_TURN = frozenset({"text", "reasoning", "tool_call"})
"""Kinds by which the model's next turn begins, once a tool has answered."""


@dataclass(frozen=True, slots=True)
class Doing:
    """`step` is the newest event's number; `calls` are open, oldest first. `answered`: one has ended."""

    step: int
    calls: tuple[Cause, ...] = ()
    answered: bool = False

    def cause(self) -> Cause:
        """What to put an attempt down to that comes now.

        Of several open calls the oldest: where calls are done one after the other, it is the one.
        """
        if not self.calls:
            return Cause(self.step)
        return replace(self.calls[0], others=len(self.calls) - 1)


def doing(now: Doing | None, events: Iterable[Event]) -> Doing | None:
    """What the run is doing after these events."""
    for event in events:
        now = _after(now or Doing(event.seq), event)
    return now


def _after(now: Doing, event: Event) -> Doing:
    calls, answered = now.calls, now.answered
    if answered and event.kind in _TURN:  # results of several calls may be told under one id
        calls, answered = (), False
    call = _text(event.data.get("id"))
    if event.kind == "tool_call":
        opened = Cause(event.seq, _text(event.data.get("name")), call, event.at.isoformat())
        calls = (*calls, opened)[-MOST:]
    elif event.kind == "tool_result":
        calls, answered = tuple(each for each in calls if each.call != call), True
    elif event.kind == "ended":
        calls = ()
    return Doing(event.seq, calls, answered)


def _text(value: object) -> str:
    return value[:LONGEST] if isinstance(value, str) else ""
