"""What the fence dropped, as records of the egress log, and what the log says already.

The log is the one truth about it. The sums up to some record are kept in a file besides, so that not
all of the log is read at each start: one that is old, or lost, only makes that take longer.
"""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

import orjson

from entrance.decision import Deny
from entrance.errors import SandgateError, Unavailable
from entrance.log.records import Decided, Request
from entrance.log.shelf import Shelf, put
from entrance.log.trail import lines_with
from orchestrator.adapters.firewall.rules import NAMES
from orchestrator.domain.dropped import Anew, Count, Counted, Dropped, Flow

MARK = b'"door":"fence"'
TOGETHER = "dropped, and there was no room left to say of whom and why"
ANEW = "the fence counts anew: what it dropped between its last count and now is not known"


class Recording(Protocol):
    """The log, as far as decisions are recorded in it."""

    async def decided(self, record: Decided) -> int:
        """The record's number, once it is on the disk. Raises: Unavailable."""
        ...


class FenceLog:
    """`drops.DropLog` in the egress log. `kept` is the file with the sums."""

    def __init__(self, log: Recording, shelf: Shelf, kept: Path) -> None:
        self._log = log
        self._shelf = shelf
        self._kept = kept
        self._seq = 0

    async def told(self) -> Counted | None:
        """The newest generation in the log, and the sums of its flows. Raises: Unavailable."""
        try:
            return await asyncio.to_thread(self._told)
        except (OSError, ValueError) as error:
            raise Unavailable(f"the egress log can't be read: {error}") from error

    async def record(self, drops: Sequence[Dropped | Anew]) -> Sequence[SandgateError | None]:
        """Record each; None once it is on the disk, or why it is not in the log."""
        came = await asyncio.gather(
            *(self._log.decided(_record(drop)) for drop in drops), return_exceptions=True
        )
        troubles: list[SandgateError | None] = []
        for each in came:
            if isinstance(each, int):
                self._seq = max(self._seq, each)
                troubles.append(None)
            elif isinstance(each, SandgateError):
                troubles.append(each)
            else:
                raise each
        return troubles

    async def keep(self, told: Counted) -> None:
        """Keep what all records so far amount to."""
        with suppress(OSError):  # then more is read at the next start
            rows = [(*_fields(flow), c.packets, c.bytes) for flow, c in told.flows.items()]
            content = orjson.dumps([self._seq, told.generation, rows])
            await asyncio.to_thread(put, self._kept, content)

    def _told(self) -> Counted | None:
        self._seq, told = _kept(self._kept)
        generation, flows = told.generation, dict(told.flows)
        for line in self._newer_lines():
            detail = line.get("detail", {})
            if detail.get("generation") != generation:
                generation, flows = detail.get("generation", 0), {}
            if "flow" in detail:
                flows[Flow(*detail["flow"])] = Count(detail["total_packets"], detail["total_bytes"])
            self._seq = line["seq"]
        return Counted(generation, flows) if generation else None

    def _newer_lines(self) -> Iterator[Mapping[str, Any]]:
        """The fence's lines after the last one that was kept."""
        for number in self._shelf.segments():
            if self._seq < _last_seq(self._shelf.seal(number)):
                for raw in lines_with(MARK, self._shelf.segment(number)):
                    line = orjson.loads(raw)
                    if line.get("door") == "fence" and line["seq"] > self._seq:
                        yield line


def _record(drop: Dropped | Anew) -> Decided:
    if isinstance(drop, Anew):
        counts = {"generation": drop.generation, "before": drop.before}
        return Decided("recount", "the fence's counts", Deny(ANEW), detail=counts)
    flow, rule = drop.flow, NAMES.get(drop.flow.rule)
    target = f"[{flow.target}]" if ":" in flow.target else flow.target
    to = f"{target}:{flow.port}" if flow.port else target
    return Decided(
        kind="packet",
        subject=f"{flow.protocol} {to}".strip() or "packets",
        decision=Deny(rule.why if rule else TOGETHER),
        session=drop.owner.session if drop.owner else None,
        run=drop.owner.run if drop.owner else None,
        address=flow.source,
        rule=rule.name if rule else "",
        request=Request(host=flow.target, port=flow.port, target=to),
        detail={
            "protocol": flow.protocol,
            "packets": drop.more.packets,
            "bytes": drop.more.bytes,
            "total_packets": drop.total.packets,
            "total_bytes": drop.total.bytes,
            "generation": drop.generation,
            "flow": _fields(flow),
        },
    )


def _fields(flow: Flow) -> list[int | str]:
    return [flow.rule, flow.source, flow.target, flow.protocol, flow.port]


def _kept(file: Path) -> tuple[int, Counted]:
    """Up to which record was kept, and the sums there; nothing of a file that can't be read."""
    try:
        seq, generation, rows = orjson.loads(file.read_bytes())
        flows = {Flow(*row[:5]): Count(*row[5:]) for row in rows}
        return int(seq), Counted(int(generation), flows)
    except (OSError, ValueError, TypeError):
        return 0, Counted(0)


def _last_seq(seal: Path) -> float:
    """The last record of a segment that is full; of the open one, more than there is."""
    try:
        return int(orjson.loads(seal.read_bytes())["last_seq"])
    except (OSError, ValueError, KeyError, TypeError):
        return float("inf")
