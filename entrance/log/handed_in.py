"""What was recorded last, by its key: whoever tells a record again has it recorded once.

The egress proxy tells a record again when the connection, or this process, went away before it was
acknowledged; by then it may be on the disk. A decision's key is one that the proxy gave it, an
outcome's is the number of its decision.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

MOST = 1 << 14
"""More than may wait for their acknowledgement at once: older ones aren't told again."""

type Key = str | int


class HandedIn:
    """The numbers of the newest records that have a key, in one event loop."""

    def __init__(self, most: int = MOST) -> None:
        self._numbers: OrderedDict[Key, asyncio.Future[int] | int] = OrderedDict()
        self._most = most

    def __contains__(self, key: Key) -> bool:
        return self.find(key) is not None

    def find(self, key: Key) -> "asyncio.Future[int] | None":
        """The number of the record with this key, once that is on the disk; None: it is new."""
        known = self._numbers.get(key) if key else None
        if not isinstance(known, int):
            return None if known is None or _failed(known) else known
        number: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        number.set_result(known)
        return number

    def keep(self, key: Key, number: "asyncio.Future[int]") -> None:
        """It is on its way to the disk; one that doesn't get there is new when it is told again."""
        if key:
            self._put(key, number)

    def restore(self, line: Mapping[str, Any]) -> None:
        """Take up a line of the log; they come oldest first."""
        key = line.get("of") if line.get("type") == "outcome" else line.get("key")
        if key:
            self._put(key, line["seq"])

    def _put(self, key: Key, number: "asyncio.Future[int] | int") -> None:
        self._numbers[key] = number
        while len(self._numbers) > self._most:
            self._numbers.popitem(last=False)


def _failed(number: "asyncio.Future[int]") -> bool:
    return number.done() and (number.cancelled() or number.exception() is not None)
