"""The inbox, live: what waits, and then every change, as server-sent events."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass

import orjson
import structlog
from aiohttp import web

from entrance.errors import SandgateError, Unavailable
from orchestrator.api.items import approval_json
from orchestrator.api.runs import KEEPALIVE_S, STREAM
from orchestrator.approvals.feed import Feed
from orchestrator.approvals.ports import ApprovalStore
from orchestrator.domain.approval import OPEN, Approval

log = structlog.get_logger()

MOST_WATCHERS = 100
SLOW_S = 15.0
"""So long an event may take to go out; a client that takes none in for so long is cut off."""
MOST_OF_A_STATE = 500
ALIVE = b": nothing new\n\n"


@dataclass(frozen=True, slots=True)
class InboxEvents:
    """`/api/approvals/events`. What is kept for a client is where it is in the feed, and no more."""

    store: ApprovalStore
    feed: Feed
    keepalive_s: float = KEEPALIVE_S
    slow_s: float = SLOW_S
    most: int = MOST_WATCHERS

    async def close(self, _app: web.Application) -> None:
        """End all watching: the runner stops. Clients ask again by themselves."""
        self.feed.close()

    async def events(self, request: web.Request) -> web.StreamResponse:
        """Server-sent events: the items that are open, and then every item that appears or changes.

        `item`: one item as it is now. `all`: what is open was told. `reset`: what was told before
        doesn't count any more, and what is open follows. With `Last-Event-ID` only what came since; where
        that can't be told any more, a `reset`. A comment at least every ten seconds. 503 when too many
        watch already.
        """
        if self.feed.watchers >= self.most:
            raise Unavailable(f"{self.most} watch the inbox already: try again later")
        response = web.StreamResponse(headers=STREAM)
        try:
            with self.feed.watch() as flag:
                await response.prepare(request)
                await self._follow(request.headers.get("Last-Event-ID", ""), flag, response)
        except TimeoutError:
            log.info("inbox_watcher_cut_off", why="it takes nothing in")
            if request.transport is not None:
                request.transport.abort()  # what waits to be sent is for nobody
        except ConnectionError:
            pass  # they have left
        except SandgateError as error:  # nothing can be said here any more; they ask again
            log.warning("inbox_watching_broke_off", error=str(error))
        return response

    async def _follow(self, mark: str, flag: asyncio.Event, response: web.StreamResponse) -> None:
        while not self.feed.closed:
            flag.clear()
            before, mark = mark, await self._tell(mark, response)
            if mark == before:
                await self._write(response, ALIVE)
            try:
                async with asyncio.timeout(self.keepalive_s):
                    await flag.wait()
            except TimeoutError:
                continue

    async def _tell(self, mark: str, response: web.StreamResponse) -> str:
        """Tell what is new after a mark; the mark that is reached by that."""
        told = mark
        async for event, reached in self._news(mark):
            await self._write(response, event)
            told = reached
        return told

    async def _news(self, mark: str) -> AsyncIterator[tuple[bytes, str]]:
        """What is to be told to who has heard all up to a mark, and the mark after each."""
        changes = self.feed.after(mark)
        if changes is not None:
            for change in changes:
                yield _event("item", approval_json(change.item), change.mark), change.mark
            return
        now = self.feed.mark  # before what is stored is read: what changes meanwhile is told again
        yield _event("reset", {}), now
        for item in await self._open():
            yield _event("item", approval_json(item)), now
        yield _event("all", {}, now), now

    async def _open(self) -> list[Approval]:
        """All items of which it isn't clear yet what comes of them, oldest first."""
        found = [one for state in OPEN for one in await self.store.listed(state, MOST_OF_A_STATE)]
        return sorted(found, key=lambda one: (one.asked_at, one.id))

    async def _write(self, response: web.StreamResponse, event: bytes) -> None:
        async with asyncio.timeout(self.slow_s):
            await response.write(event)


def _event(kind: str, data: object, mark: str = "") -> bytes:
    number = f"id: {mark}\n" if mark else ""
    return f"{number}event: {kind}\ndata: ".encode() + orjson.dumps(data, default=str) + b"\n\n"
