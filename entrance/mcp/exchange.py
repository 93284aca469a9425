"""One request of a client while it is being done: what is told it meanwhile, and what it is asked.

Nearly all are answered without a word before. So the work is done in the request's own task, and who
sends what is told begins only when there is something, or after a while.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from functools import cached_property

from entrance.mcp.messages import (
    METHOD_NOT_FOUND,
    Answered,
    Era,
    Failure,
    Json,
    as_bytes,
    notification,
)


class Questions:
    """What a client was asked and has not answered, by the ids that the questions carry."""

    def __init__(self, ids: Callable[[], str]) -> None:
        self._ids = ids
        self._open: dict[str, asyncio.Future[Json]] = {}

    def ask(self, method: str, params: Json) -> tuple[Json, "asyncio.Future[Json]"]:
        """The question as it is sent, and what will be its answer."""
        number = self._ids()
        future = asyncio.get_running_loop().create_future()
        self._open[number] = future
        future.add_done_callback(lambda _: self._open.pop(number, None))
        return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}, future

    def answered(self, answer: Answered) -> None:
        """Take an answer; one to nothing that was asked is dropped."""
        future = self._open.get(answer.id) if isinstance(answer.id, str) else None
        if future is not None and not future.done():
            future.set_result(answer.message)


QUIET_S = 15.0
"""After so long without a word the client is told that there is still somebody."""


class Exchange:
    """Implements `connection.Back`: `outbox` is what goes out to the client, in order.

    `questions`: None where the client can't be asked anything. `heard`: whether it is told anything.
    """

    def __init__(
        self,
        era: Era,
        can: frozenset[str] = frozenset(),
        questions: Questions | None = None,
        *,
        heard: bool = True,
        quiet_s: float = QUIET_S,
    ) -> None:
        self.era = era
        self._can = can
        self._questions = questions
        self._heard = heard
        self._quiet_s = quiet_s
        self._begin: Callable[[], object] | None = None
        self._working: asyncio.Task[object] | None = None
        self._withdrawn = False
        self._ended = False

    @cached_property
    def outbox(self) -> asyncio.Queue[Json | None]:
        """Made for whom something is told, or listens: most requests are answered without it."""
        queue: asyncio.Queue[Json | None] = asyncio.Queue()
        if self._ended:
            queue.put_nowait(None)
        return queue

    async def work[T](
        self, work: Callable[[], Awaitable[T]], begin: Callable[[], object], withdrawn: T
    ) -> T:
        """Do the work in this task, and what comes of it; `withdrawn` when that was asked for.

        `begin` has the outbox sent: it is called when something is in it, or after a while.
        """
        self._working, self._begin = asyncio.current_task(), begin if self._heard else None
        quiet = asyncio.get_running_loop().call_later(self._quiet_s, self._begun)
        try:
            return await work()
        except asyncio.CancelledError:
            if not self._withdrawn or self._working is None or self._working.uncancel():
                raise  # it is the client that left
            return withdrawn
        finally:
            quiet.cancel()
            self.end()

    def withdraw(self) -> None:
        """Nobody wants to know any more: the work ends where it is."""
        if self._working is not None and not self._withdrawn:
            self._withdrawn = True
            self._working.cancel()

    def _begun(self) -> None:
        begin, self._begin = self._begin, None
        if begin is not None:
            begin()

    def _put(self, message: Json) -> None:
        self.outbox.put_nowait(message)
        self._begun()

    async def tell(self, method: str, params: Json) -> None:
        message = notification(method, params)
        room = self._heard and self.outbox.qsize() < _AHEAD
        if room and len(as_bytes(message)) <= _LONGEST:
            self._put(message)

    def end(self) -> None:
        """Nothing more is told or asked: the outbox ends with None."""
        self._ended = True
        if "outbox" in self.__dict__:
            self.outbox.put_nowait(None)

    async def ask(self, method: str, params: Json) -> Json | Failure:
        if self._questions is None or method.partition("/")[0] not in self._can:
            return Failure(METHOD_NOT_FOUND, _CANT_BE_ASKED[self.era].format(method[:60]))
        question, answer = self._questions.ask(method, params)
        try:
            self._put(question)
            return _read(await answer)
        finally:
            answer.cancel()


_CANT_BE_ASKED: Mapping[Era, str] = {
    "handshake": "the client can't be asked for {}",
    "modern": "{} can't be asked for in mid-call: the client is of 2026-07-28, in which a server asks "
    "by an answer that ends the request",
}
_AHEAD = 1000
"""So many messages may wait for a slow client; more are dropped: they only tell how far something is."""
_LONGEST = 64 << 10
"""Bytes of a notification; longer ones are dropped."""


def _read(answer: Json) -> Json | Failure:
    error = answer.get("error")
    if isinstance(error, dict):
        code = error.get("code")
        if isinstance(code, bool) or not isinstance(code, int):
            code = -1
        return Failure(code, str(error.get("message"))[:1000], error.get("data"))
    result = answer.get("result")
    return result if isinstance(result, dict) else {}
