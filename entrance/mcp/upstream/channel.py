"""A session over a channel: every message is sent on it, and all that the server says comes from it.

Legacy SSE is one. What is under way when it ends is `Lost`; it is never opened a second time.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, aclosing
from typing import Protocol

import structlog

from entrance.errors import SandgateError, Unavailable
from entrance.gated import Gate
from entrance.mcp.connection import Lost
from entrance.mcp.messages import METHOD_NOT_FOUND, Failure, Json
from entrance.mcp.upstream import wire
from entrance.mcp.upstream.carrier import SAID_BY, Hear, Stray
from entrance.session import Session

log = structlog.get_logger()

_UNHEARD = 100
"""So many messages may wait for whoever hears them; then the server has to."""


class Channel(Protocol):
    """Two ways: to a server, and back."""

    async def send(self, message: Json) -> None:
        """Send one message.

        Raises: Unavailable when it surely did not arrive; NotFound when the server doesn't know the
        channel any more, and didn't take it; Lost when that isn't known; Malformed when refused.
        """
        ...

    def messages(self) -> AsyncGenerator[Json]:
        """What the server says, until it ends. Raises: Lost, Malformed."""
        ...


OpenChannel = Callable[[Session], AbstractAsyncContextManager[Channel]]
"""Opens a run's channel, which ends with the block. Raises: SandgateError."""


class OverChannel:
    """Implements `carrier.Carrier`."""

    def __init__(self, name: str, opening: OpenChannel) -> None:
        self._name = name
        self._opening = opening
        self._channel: Channel | None = None
        self._stray: Stray | None = None
        self._reading: asyncio.Future[None] | None = None
        self._waiting: dict[int, asyncio.Queue[Json | None]] = {}
        """What is said for each request, by its number; None: nothing more will be."""

    @property
    def over(self) -> bool:
        return self._reading is not None and self._reading.done()

    async def open(self, session: Session, stray: Stray) -> None:
        self._stray = stray
        opened: asyncio.Future[Channel] = asyncio.get_running_loop().create_future()
        self._reading = asyncio.ensure_future(self._read(session, opened))
        try:
            async with asyncio.timeout(SAID_BY):
                self._channel = await opened
        except TimeoutError as error:
            raise Unavailable(f"{self._name} doesn't begin") from error

    async def say(self, message: Json, hear: Hear, gate: Gate) -> Json | Failure | None:
        await gate()
        number = message["id"]
        queue = self._waiting[number] = asyncio.Queue(_UNHEARD)
        try:
            await self.send(message)
            while (said := await queue.get()) is not None:
                outcome = await hear(said, 200)
                if outcome is not None:
                    return outcome
        finally:
            del self._waiting[number]
            while not queue.empty():  # whoever has more for it goes on
                queue.get_nowait()
        raise Lost(f"{self._name} went away")

    async def send(self, message: Json) -> None:
        if self._channel is None or self.over:
            raise Unavailable(f"{self._name} went away")
        try:
            async with asyncio.timeout(SAID_BY):
                await self._channel.send(message)
        except TimeoutError as error:
            raise Lost(f"{self._name} doesn't take a message") from error

    def agreed(self, version: str) -> None:
        """Nothing of it is said again."""

    async def listen(self) -> None:
        if self._reading is not None:
            await asyncio.wait([self._reading])

    async def close(self) -> None:
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.wait([self._reading])

    async def _read(self, session: Session, opened: asyncio.Future[Channel]) -> None:
        try:
            async with self._opening(session) as channel:
                opened.set_result(channel)
                async with aclosing(channel.messages()) as saying:
                    async for said in saying:
                        await self._heard(channel, said)
        except SandgateError as error:
            if not opened.done():
                opened.set_exception(error)
            log.info("channel_ended", connection=self._name, error=str(error))
        finally:
            for queue in self._waiting.values():
                _end(queue)

    async def _heard(self, channel: Channel, said: Json) -> None:
        """Give a message to whom it is for: who waits for it, or else the newest of those who wait."""
        number = _number_of(said)
        queue = self._waiting.get(number) if number is not None else self._newest()
        if queue is not None:
            await queue.put(said)
        elif "method" in said and "id" in said:
            await channel.send(wire.answer(said["id"], _asked_of_nobody(said)))
        elif "method" in said and self._stray is not None:
            await self._stray(said)

    def _newest(self) -> asyncio.Queue[Json | None] | None:
        return next(reversed(self._waiting.values()), None)


def _number_of(said: Json) -> int | None:
    """Which request of ours a message is about; None when it doesn't say."""
    number = said.get("id")
    if "method" in said:
        params = said.get("params")
        about = said["method"] == "notifications/progress" and isinstance(params, dict)
        number = params.get("progressToken") if about and isinstance(params, dict) else None
    return number if isinstance(number, int) and not isinstance(number, bool) else None


def _asked_of_nobody(said: Json) -> Json | Failure:
    """The answer to a question that nobody's call is the cause of."""
    if said["method"] == "ping":
        return {}
    return Failure(METHOD_NOT_FOUND, "Refused: nothing is being done that this is about.")


def _end(queue: asyncio.Queue[Json | None]) -> None:
    """What was heard is still read, but for what there is no room for."""
    if queue.full():
        queue.get_nowait()
    queue.put_nowait(None)
