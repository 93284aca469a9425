"""What a server lists to one run: remembered, and asked for anew when it has changed or is doubted."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from entrance.mcp.connection import Kind
from entrance.mcp.messages import Era, Json

REMEMBERED_S = 60.0
"""So long a list stands, unless the server tells that it has changed."""
AGAIN_S = 3.0
"""After a list was asked for anew, it isn't for so long, however often it is said to have changed."""


@dataclass(frozen=True, slots=True)
class _Listed:
    """A list, when it came, and how often its kind had changed by the time it was asked for.

    `anew_at`: when such a change was last the reason to ask.
    """

    many: Sequence[Json]
    at: float
    changes: int
    anew_at: float | None


class RunLists:
    """One run's, by its clients' eras. `clock` counts seconds."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._listed: dict[tuple[Era, Kind], _Listed] = {}
        self._changes: Counter[str] = Counter()
        """By what stands before `/list_changed`."""

    async def of(
        self, era: Era, kind: Kind, ask: Callable[[], Awaitable[Sequence[Json]]]
    ) -> Sequence[Json]:
        """The list as it is now, as far as is known. `ask` has it; what it raises is raised."""
        known = self.at_hand(era, kind)
        if known is not None:
            return known
        last = self._listed.get((era, kind))
        is_anew = last is not None and last.changes != self._changes[_of(kind)]
        anew_at = last.anew_at if last else None
        if is_anew:
            if anew_at is not None:
                await asyncio.sleep(anew_at + AGAIN_S - self._clock())
            anew_at = self._clock()
        changes = self._changes[_of(kind)]  # before it is asked for: what is told then, it may lack
        many = await ask()
        self._listed[era, kind] = _Listed(many, self._clock(), changes, anew_at)
        return many

    def at_hand(self, era: Era, kind: Kind) -> Sequence[Json] | None:
        """The list, as long as it stands."""
        last = self._listed.get((era, kind))
        if last is None or last.changes != self._changes[_of(kind)]:
            return None
        return last.many if self._clock() - last.at < REMEMBERED_S else None

    def changed(self, what: str) -> None:
        """The server says that its `tools`, `prompts` or `resources` are others."""
        self._changes[what] += 1

    def doubt(self, kind: Kind) -> bool:
        """Something is missing that may have been added; whether the list is old enough for that."""
        now = self._clock()
        lists = [each for (_, of), each in self._listed.items() if of == kind]
        doubted = any(now - each.at >= AGAIN_S for each in lists)
        self._changes[_of(kind)] += doubted
        return doubted


def _of(kind: Kind) -> str:
    return kind.partition("/")[0]
