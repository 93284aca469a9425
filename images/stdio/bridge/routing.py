"""Whose each message of the server is [pure].

Many talk with one process, and their requests may have the same ids. So each request goes in under a
number of our own, and so does its progress token; what comes back gets its own again.
"""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Generic, TypeVar

Json = Mapping[str, Any]
To = TypeVar("To")
MOST_WAITING = 64
"""So many messages are kept while nobody listens; the oldest go first."""
SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"


@dataclass(frozen=True)
class Asked(Generic[To]):
    """A request that was handed in: where it came from, and how it was called there."""

    to: To
    rpc_id: Any
    token: Any
    method: str


@dataclass
class Routing(Generic[To]):
    """The requests that are open, and who listens besides."""

    open: dict[int, Asked[To]] = field(default_factory=dict)
    listener: To | None = None
    waiting: deque[Json] = field(default_factory=lambda: deque(maxlen=MOST_WAITING))
    _numbers: "count[int]" = field(default_factory=lambda: count(1))

    def ask(self, request: Json, to: To) -> Json:
        """A request as it goes to the server."""
        number = next(self._numbers)
        meta = _meta(request)
        token = meta.get("progressToken")
        self.open[number] = Asked(to, request["id"], token, str(request["method"]))
        sent = {**request, "id": number}
        if token is not None:
            sent["params"] = {**request["params"], "_meta": {**meta, "progressToken": number}}
        return sent

    def cancel(self, notice: Json) -> Json | None:
        """A notification that a request is cancelled, as it goes to the server; None: it isn't open."""
        params = _object(notice.get("params"))
        for number, asked in self.open.items():
            if asked.rpc_id == params.get("requestId"):
                return {**notice, "params": {**params, "requestId": number}}
        return None

    def gone(self, to: To) -> list[int]:
        """Somebody waits no more; the numbers of what was asked."""
        if self.listener is to:
            self.listener = None
        numbers = [number for number, asked in self.open.items() if asked.to is to]
        for number in numbers:
            del self.open[number]
        return numbers

    def heard(self, message: Json) -> tuple[To, Json, bool] | None:
        """Whose a message is, how it is told there, and whether that is the last of it.

        None: nobody's, or nobody's yet.
        """
        if "method" not in message:
            asked = self._asked(message.get("id"))
            if asked is None:
                return None
            del self.open[message["id"]]
            return asked.to, {**message, "id": asked.rpc_id}, True
        params = _object(message.get("params"))
        if (asked := self._asked(params.get("progressToken"))) is not None:
            return asked.to, {**message, "params": {**params, "progressToken": asked.token}}, False
        meta = _meta(message)
        if (asked := self._asked(meta.get(SUBSCRIPTION))) is not None:
            told = {**params, "_meta": {**meta, SUBSCRIPTION: asked.rpc_id}}
            return asked.to, {**message, "params": told}, False
        return self._somebody(message)

    def _somebody(self, message: Json) -> tuple[To, Json, bool] | None:
        """It says not what it belongs to: the newest request it is, or else who listens."""
        newest = next(reversed(self.open.values()), None)
        to = newest.to if newest else self.listener
        if to is None:
            self.waiting.append(message)
            return None
        return to, message, False

    def _asked(self, number: object) -> Asked[To] | None:
        return self.open.get(number) if type(number) is int else None


def _meta(message: Json) -> Json:
    return _object(_object(message.get("params")).get("_meta"))


def _object(value: object) -> Json:
    return value if isinstance(value, dict) else {}
