"""What the fence of the sandbox network dropped: flows, their counts, and what is new of them [pure]."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from entrance.session import RunId, Session


@dataclass(frozen=True, slots=True, order=True)
class Flow:
    """Who wanted to reach whom, and which rule was against it.

    Where a table had no more room, `target` is empty and `port` 0; where there was none even for that,
    all is empty. A protocol without ports has port 0.
    """

    rule: int = 0
    source: str = ""
    target: str = ""
    protocol: str = ""
    port: int = 0


@dataclass(frozen=True, slots=True)
class Count:
    """Packets and their bytes, IP headers included."""

    packets: int = 0
    bytes: int = 0


@dataclass(frozen=True, slots=True)
class Counted:
    """What a table has counted since it first was made; `generation` names that moment."""

    generation: int
    flows: Mapping[Flow, Count] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Owner:
    """Whose an address is. `session` None: the run's sandbox was made, but it is not let in yet."""

    run: RunId
    session: Session | None = None


@dataclass(frozen=True, slots=True)
class Dropped:
    """One flow's packets since the last record of it (`more`), and in its generation (`total`)."""

    flow: Flow
    owner: Owner | None
    """None: nobody knows whose the source's address was."""
    more: Count
    total: Count
    generation: int


@dataclass(frozen=True, slots=True)
class Anew:
    """The counts began anew. What was dropped between the last look and `generation` isn't known.

    `before` is the generation that was, or 0: the log had nothing of the fence.
    """

    generation: int
    before: int


def news(told: Mapping[Flow, Count], now: Mapping[Flow, Count]) -> Iterator[tuple[Flow, Count]]:
    """Each flow of which more was dropped than was told, and how much more [pure].

    A sum that is smaller than it was has begun anew.
    """
    for flow, total in now.items():
        last = told.get(flow, Count())
        if total.packets < last.packets:
            last = Count()
        if total.packets > last.packets:
            yield flow, Count(total.packets - last.packets, total.bytes - last.bytes)
