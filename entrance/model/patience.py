"""Gives up a provider that falls silent in the middle of a stream, at no cost while it talks."""

import asyncio
from collections.abc import Callable
from types import TracebackType

import aiohttp

from entrance.model.call import Call


class Patience:
    """While it is entered, a wait for the next piece of `answer` may take `silence_s` and no longer.

    Then the wait ends by a TimeoutError. When the wait began is up to whoever waits (`call`): a
    client that is slow to take what it is sent is not the provider's silence. Streams are many and
    their events too: the timer looks at the clock now and then, and is not set anew for each.
    """

    def __init__(
        self,
        call: Call,
        answer: aiohttp.ClientResponse,
        silence_s: float,
        clock: Callable[[], float],
    ) -> None:
        self._call = call
        self._answer = answer
        self._silence_s = silence_s
        self._clock = clock
        self._loop = asyncio.get_running_loop()
        self._timer = self._loop.call_later(silence_s, self._look)

    def __enter__(self) -> None:
        """Entered already."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._timer.cancel()

    def _look(self) -> None:
        since = self._call.waits_since
        waited_s = 0.0 if since is None else self._clock() - since
        if waited_s < self._silence_s:
            self._timer = self._loop.call_later(self._silence_s - waited_s, self._look)
        else:
            self._answer.content.set_exception(TimeoutError("the provider fell silent"))
