"""One process of the server, and those who talk with it."""

from collections.abc import Sequence

from bridge.process import Json, Log, Process
from bridge.routing import Routing
from bridge.wire import Events

FAILED = -32000
HARMLESS = frozenset({"initialize", "server/discover", "tools/list", "prompts/list"})
"""Nothing is done by these: where the process ends in the middle of one, that can be said."""


class Conversation:
    """Over once its process has ended; there is no other process for it."""

    def __init__(self, argv: Sequence[str], log: Log) -> None:
        self._argv = argv
        self._log = log
        self._routing: Routing[Events] = Routing()
        self._process = Process(log, self._heard, self._ended)
        self._fresh = True

    @property
    def over(self) -> bool:
        return bool(self._process.ended)

    @property
    def unbegun(self) -> bool:
        """Whether nothing has come of it but errors: it can still begin in another way."""
        return self._fresh and not self.over and not self._routing.open

    async def start(self) -> None:
        """Start the process."""
        await self._process.start(self._argv)

    async def ask(self, request: Json, events: Events, *, leaving_cancels: bool) -> None:
        """Have a request done; what comes of it is told to `events`, which is then closed.

        `leaving_cancels`: whoever goes away before wants it cancelled.
        """
        sent = self._routing.ask(request, events)
        await self._flush(events)
        await self._process.send(sent)
        if self.over:
            await self._ended()
        answered = await events.until_closed()
        for number in self._routing.gone(events):
            if leaving_cancels and not answered:
                params = {"requestId": number, "reason": "no longer wanted"}
                notice = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}
                await self._process.send(notice)

    async def tell(self, message: Json) -> None:
        """Pass on a notification, or the answer to what the server asked."""
        passed_on: Json | None = message
        if message.get("method") == "notifications/cancelled":
            passed_on = self._routing.cancel(message)
        if passed_on is not None:
            await self._process.send(passed_on)

    async def listen(self, events: Events) -> None:
        """Tell `events` whatever belongs to no request, until one of both has gone."""
        if self._routing.listener is not None:
            self._routing.listener.close()
        self._routing.listener = events
        await self._flush(events)
        if not self.over:
            await events.until_closed()
        self._routing.gone(events)

    async def end(self) -> None:
        """End the process."""
        await self._process.end()

    async def _flush(self, events: Events) -> None:
        while self._routing.waiting:
            await events.tell(self._routing.waiting.popleft())

    async def _heard(self, message: Json) -> None:
        if "result" in message:
            self._fresh = False
        found = self._routing.heard(message)
        if found is None:
            return
        events, told, last = found
        await events.tell(told)
        if last:
            events.close()

    async def _ended(self) -> None:
        """Who waits for what may have been done is told nothing: the answer just ends."""
        words = self._log.tail.decode("utf-8", "replace").strip()
        why = f"{self._process.ended}: {words}" if words else self._process.ended
        for asked in list(self._routing.open.values()):
            if asked.method in HARMLESS:
                error = {"code": FAILED, "message": why}
                await asked.to.tell({"jsonrpc": "2.0", "id": asked.rpc_id, "error": error})
            asked.to.close()
        if self._routing.listener is not None:
            self._routing.listener.close()
