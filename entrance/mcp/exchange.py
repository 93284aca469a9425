"""One request of a client while it is being done: what is told it meanwhile, and what it is asked."""

import asyncio
from collections.abc import Callable

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


class Exchange:
    """Implements `connection.Back`: `outbox` is what goes out to the client, in order.

    `questions`: None where the client can't be asked anything.
    """

    def __init__(
        self, era: Era, can: frozenset[str] = frozenset(), questions: Questions | None = None
    ) -> None:
        self.era = era
        self.outbox: asyncio.Queue[Json | None] = asyncio.Queue()
        self._can = can
        self._questions = questions

    async def tell(self, method: str, params: Json) -> None:
        message = notification(method, params)
        if self.outbox.qsize() < _AHEAD and len(as_bytes(message)) <= _LONGEST:
            self.outbox.put_nowait(message)

    def end(self) -> None:
        """Nothing more is told or asked: the outbox ends with None."""
        self.outbox.put_nowait(None)

    async def ask(self, method: str, params: Json) -> Json | Failure:
        if self._questions is None or method.partition("/")[0] not in self._can:
            return Failure(METHOD_NOT_FOUND, f"The client can't be asked for {method[:60]}")
        question, answer = self._questions.ask(method, params)
        try:
            self.outbox.put_nowait(question)
            return _read(await answer)
        finally:
            answer.cancel()


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
