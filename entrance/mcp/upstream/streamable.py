"""A session over streamable HTTP: each message is a request, and the session's id one of its headers."""

import asyncio
import re
from http import HTTPStatus

import structlog

from entrance.errors import Malformed, NotFound, SandgateError
from entrance.gated import Gate
from entrance.mcp.connection import Lost
from entrance.mcp.messages import Failure, Json
from entrance.mcp.upstream import wire
from entrance.mcp.upstream.answer import Answer
from entrance.mcp.upstream.carrier import SAID_BY, Hear, Stray
from entrance.mcp.upstream.endpoint import Endpoint, Outgoing
from entrance.session import Session

log = structlog.get_logger()

_GOODBYE_S = 3.0
_SESSION = "Mcp-Session-Id"
_ID = re.compile(r"[\x21-\x7e]{1,1000}")


class StreamableHttp:
    """Implements `carrier.Carrier`."""

    over = False

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._headers: dict[str, str] = {}
        self._stray: Stray | None = None

    async def open(self, session: Session, stray: Stray) -> None:
        del session  # the first request begins it
        self._stray = stray

    async def say(self, message: Json, hear: Hear, gate: Gate) -> Json | Failure | None:
        async def known(said: Json, answer: Answer) -> Json | Failure | None:
            self._note_session(answer)
            self._require_known(said, answer.status)
            return await hear(said, answer.status)

        try:
            return await self._endpoint.say(message, self._headers, known, gate, resumes=True)
        except NotFound:
            self._headers.pop(_SESSION, None)  # there is nothing left to end
            raise

    def _require_known(self, said: Json, status: int) -> None:
        if _SESSION in self._headers and wire.is_forgotten(said, status):
            raise NotFound("the server has forgotten the session")

    def _note_session(self, answer: Answer) -> None:
        given = answer.headers.get(_SESSION)
        if given is None or _SESSION in self._headers:
            return
        if not _ID.fullmatch(given):
            raise Malformed("the id of its session can't be sent back")
        self._headers[_SESSION] = given

    async def send(self, message: Json) -> None:
        try:
            async with asyncio.timeout(SAID_BY):
                await self._sent(message)
        except TimeoutError as error:
            raise Lost("the server doesn't take a message") from error

    async def _sent(self, message: Json) -> None:
        async with self._endpoint.open(Outgoing("POST", self._headers, message)) as answer:
            if answer.status >= HTTPStatus.MULTIPLE_CHOICES:
                what = message.get("method", "an answer")
                raise Malformed(f"the server doesn't take {what}: HTTP {answer.status}")

    def agreed(self, version: str) -> None:
        self._headers["MCP-Protocol-Version"] = version

    async def listen(self) -> None:
        stray = self._stray
        if stray is None:
            return

        async def heard(said: Json, _: Answer) -> None:
            await stray(said)

        async with self._endpoint.open(Outgoing("GET", self._headers)) as answer:
            if answer.status == HTTPStatus.OK:
                await answer.tell(heard)

    async def close(self) -> None:
        if _SESSION not in self._headers:
            return
        try:
            async with (
                asyncio.timeout(_GOODBYE_S),
                self._endpoint.open(Outgoing("DELETE", self._headers)) as answer,
            ):
                log.info("session_ended", status=answer.status)
        except (SandgateError, TimeoutError) as error:
            log.info("session_not_ended", error=str(error))
