"""The decisions that allowed something, and of which it isn't recorded yet what came of them."""

from collections import OrderedDict
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from entrance.log.records import Door

MOST = 100_000
LATELY = timedelta(milliseconds=100)


class Open(NamedTuple):
    """Whose decision it was, at which door, and whether a tool call was known to have caused it."""

    door: Door
    at: datetime
    run: str = ""
    told: bool = False


class OpenDecisions:
    """By number. `floor`: what was decided up to there may be open without being known here."""

    def __init__(self, floor: int = 0, most: int = MOST) -> None:
        self._open: OrderedDict[int, Open] = OrderedDict()
        self._most = most
        self.floor = floor

    def begin(self, decision: Open, seq: int) -> None:
        """It was allowed, and goes on."""
        self._open[seq] = decision
        while len(self._open) > self._most:
            self.floor = max(self.floor, self._open.popitem(last=False)[0])

    def quiet(self, now: datetime) -> bool:
        """Whether nothing that was decided lately still goes on: what does, goes on for long."""
        newest = next(reversed(self._open.values()), None)
        return newest is None or now - newest.at > LATELY

    def end(self, seq: int) -> Open | None:
        """What came of it is about to be recorded; None when nothing is known of it."""
        return self._open.pop(seq, None)

    def may_end(self, seq: int, door: Door) -> bool:
        """Whether this door may say what came of it."""
        known = self._open.get(seq)
        return known.door == door if known else 0 < seq <= self.floor

    def restore(self, line: Mapping[str, Any]) -> None:
        """Take up a line of the log; they come oldest first."""
        if line.get("type") == "decided" and line.get("decision") == "allow":
            at = datetime.fromisoformat(line["at"])
            self.begin(Open(line["door"], at, line.get("run", "")), line["seq"])
        elif line.get("type") == "outcome":
            self.end(line["of"])
