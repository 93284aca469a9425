"""Which conversation a request is for.

Each session (2025-11-25 and before) is a process of its own. All requests without one (2026-07-28) go
to one process, which is started at once: until it has been asked something, it can be a session's.
"""

import asyncio
import json
import secrets
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from bridge.conversation import Conversation
from bridge.process import Log
from bridge.wire import BadRequest, Events, Request, answer, read

PATH = "/mcp"
SESSION = "Mcp-Session-Id"
MOST_SESSIONS = 4
"""With one more, the oldest ends."""


class Service:
    """Serves one server."""

    def __init__(self, argv: Sequence[str]) -> None:
        self._argv = argv
        self._log = Log()
        self._standing: Conversation | None = None
        self._sessions: dict[str, Conversation] = {}

    async def start(self) -> None:
        """Start the first process: what it has to fetch comes while nobody waits yet."""
        await self._without_session()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one request."""
        with suppress(OSError, EOFError, TimeoutError):
            try:
                request = await read(reader)
                said = await self._answer(request, Events(reader, writer))
            except BadRequest as error:
                said = answer(400, {"error": str(error)})
            writer.write(said)
            await writer.drain()
        writer.close()

    async def _answer(self, request: Request, events: Events) -> bytes:
        """What is still to be sent; nothing after a stream."""
        if request.path != PATH:
            return answer(404)
        session = request.headers.get(SESSION.lower())
        conversation = self._sessions.get(session) if session else None
        if session and (conversation is None or conversation.over):
            self._sessions.pop(session, None)
            return answer(404, {"error": "there is no such session"})
        match request.method:
            case "POST":
                return await self._post(request, events, conversation)
            case "GET" if conversation:
                events.begin({})
                await conversation.listen(events)
                return b""
            case "DELETE" if session and conversation:
                del self._sessions[session]
                await conversation.end()
                return answer(200)
            case _:
                return answer(405)

    async def _post(
        self, request: Request, events: Events, conversation: Conversation | None
    ) -> bytes:
        message = _message(request.body)
        told: dict[str, str] = {}
        in_session = conversation is not None
        if conversation is None and message.get("method") == "initialize":
            session, conversation = await self._session()
            told[SESSION], in_session = session, True
        elif conversation is None:
            conversation = await self._without_session()
        if "id" not in message or "method" not in message:
            await conversation.tell(message)
            return answer(202)
        events.begin(told)
        await conversation.ask(message, events, leaving_cancels=not in_session)
        return b""

    async def _session(self) -> tuple[str, Conversation]:
        standing, self._standing = self._standing, None
        if standing is not None and not standing.unbegun:
            self._standing, standing = standing, None
        over = [name for name, each in self._sessions.items() if each.over]
        for name in over or list(self._sessions)[: len(self._sessions) - MOST_SESSIONS + 1]:
            await self._sessions.pop(name).end()
        name = secrets.token_urlsafe(16)
        self._sessions[name] = standing or await self._begun()
        return name, self._sessions[name]

    async def _without_session(self) -> Conversation:
        if self._standing is None or self._standing.over:
            self._standing = await self._begun()
        return self._standing

    async def _begun(self) -> Conversation:
        conversation = Conversation(self._argv, self._log)
        await conversation.start()
        return conversation


def _message(body: bytes) -> dict[str, Any]:
    try:
        message = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise BadRequest("the body is no JSON") from error
    if not isinstance(message, dict):
        raise BadRequest("the body is no message")
    return message
