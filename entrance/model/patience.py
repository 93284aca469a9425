"""Gives up a provider that falls silent in the middle of a stream, at no cost while it talks."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType

import aiohttp

from entrance.model.call import Call


@dataclass(frozen=True, slots=True)
class Limits:
    """How long a wait for the next piece of a stream may take, and how long the stream."""

    silence_s: float
    whole_s: float


class Patience:
    """While it is entered, a wait for more of `answer` ends by a TimeoutError at its limits.

    When the wait began is up to whoever waits (`call`): a client that is slow to take what it is
    sent is not the provider's silence. Streams are many and their events too: the timer looks at
    the clock now and then, and is not set anew for each.
    """

    def __init__(
        self,
        call: Call,
        answer: aiohttp.ClientResponse,
        limits: Limits,
        clock: Callable[[], float],
    ) -> None:
        self._call = call
        self._answer = answer
        self._limits = limits
        self._clock = clock
        self._ends = clock() + limits.whole_s
        self._loop = asyncio.get_running_loop()
        self._timer = self._loop.call_later(self._left_s(), self._look)

    def __enter__(self) -> None:
        """Entered already."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._timer.cancel()

    def _left_s(self) -> float:
        """How long it may still be before there is something to be given up."""
        now = self._clock()
        since = now if self._call.waits_since is None else self._call.waits_since
        return min(since + self._limits.silence_s, self._ends) - now

    def _look(self) -> None:
        left_s = self._left_s()
        if left_s > 0:
            self._timer = self._loop.call_later(left_s, self._look)
        else:
            self._answer.content.set_exception(TimeoutError("the provider took too long"))
