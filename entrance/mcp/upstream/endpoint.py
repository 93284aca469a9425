"""One server's URL: requests go out with the credential on, answers come back as messages.

Redirects are not followed, cookies not kept. Nothing is ever sent a second time: whatever breaks
after a request began to go out is `Lost`. The credential is taken out of whatever comes back.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Protocol

import aiohttp
import orjson
from aiohttp import hdrs

from entrance.errors import Malformed, NotFound, Unavailable
from entrance.mcp.connection import Lost
from entrance.mcp.messages import Json, as_bytes
from entrance.mcp.upstream.events import LARGEST, Event, EventReader, TooLarge
from entrance.ports import McpServer
from entrance.vault.credentials import SecretHeaders

_CONNECT_S = 10.0
_IDLE_S = 4.0
"""Shorter than servers keep a connection: one that they have just closed would lose a request."""
_RESUMED = 5
_LONGEST_WAIT_S = 30.0
_JSON_AND_EVENTS = "application/json, text/event-stream"
_EVENTS = "text/event-stream"


class Secrets(Protocol):
    """Puts secrets on requests."""

    async def headers_for(self, name: str, method: str, url: str) -> SecretHeaders:
        """The header that carries a secret. Raises: SandgateError."""
        ...


def client_session() -> aiohttp.ClientSession:
    """The HTTP client for servers: nothing remembered; how long things take is decided elsewhere."""
    return aiohttp.ClientSession(
        auto_decompress=False,
        connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=_IDLE_S),
        cookie_jar=aiohttp.DummyCookieJar(),
        read_bufsize=1 << 16,
        timeout=aiohttp.ClientTimeout(total=None, sock_connect=_CONNECT_S),
        trust_env=False,
    )


@dataclass
class Answer:
    """What a server answers: a status, headers, and messages as they come."""

    status: int
    headers: Mapping[str, str]
    last_id: str | None = None
    retry_s: float = 1.0
    response: aiohttp.ClientResponse = field(repr=False, kw_only=True)
    secret: SecretHeaders = field(repr=False, kw_only=True)

    async def messages(self) -> AsyncGenerator[Json]:
        """Each message, until the answer ends. Raises: Malformed."""
        if self.response.content_type != _EVENTS:
            whole = await self._whole()
            if whole:
                yield _message(self.secret.redact_all(whole))
            return
        reader = EventReader()
        async for piece in self.response.content.iter_any():
            for event in _read(reader, piece):
                self._note(event)
                if event.data:
                    yield _message(self.secret.redact_all(event.data))

    def _note(self, event: Event) -> None:
        if event.id is not None:
            self.last_id = event.id or None
        if event.retry_ms is not None:
            self.retry_s = min(event.retry_ms / 1000, _LONGEST_WAIT_S)

    async def _whole(self) -> bytes:
        parts, size = [], 0
        async for piece in self.response.content.iter_any():
            size += len(piece)
            if size > LARGEST:
                raise Malformed(f"its answer is larger than {LARGEST >> 20} MB")
            parts.append(piece)
        return b"".join(parts)


class Endpoint:
    """A server, as it is reached."""

    def __init__(self, http: aiohttp.ClientSession, server: McpServer, secrets: Secrets) -> None:
        self._http = http
        self._server = server
        self._secrets = secrets

    @asynccontextmanager
    async def open(
        self, method: str, headers: Mapping[str, str], message: Json | None = None
    ) -> AsyncIterator[Answer]:
        """One request, and its answer while the block runs.

        Raises: Unavailable when it surely did not arrive; Lost when that isn't known; SandgateError
        when the credential can't be had.
        """
        url = self._server.url
        secret = SecretHeaders({})
        if self._server.secret:
            secret = await self._secrets.headers_for(self._server.secret, method, url)
        sent = {hdrs.ACCEPT: _JSON_AND_EVENTS, hdrs.ACCEPT_ENCODING: "identity", **headers}
        body = None
        if message is not None:
            sent[hdrs.CONTENT_TYPE] = "application/json"
            body = as_bytes(message)
        try:
            async with self._http.request(
                method, url, data=body, headers={**sent, **secret}, allow_redirects=False
            ) as response:
                yield Answer(response.status, response.headers, response=response, secret=secret)
        except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError) as error:
            raise Unavailable(f"{self._server.name} can't be reached") from error
        except (aiohttp.ClientError, ConnectionError) as error:
            raise Lost(f"{self._server.name} broke off: {type(error).__name__}") from error

    async def said(
        self, message: Json, headers: Mapping[str, str], *, resumes: bool
    ) -> AsyncGenerator[tuple[Json, Answer]]:
        """What a server says to a message until it has no more to say.

        A stream that is cut is taken up where it ended, where the server can do that: this asks for
        what was not heard, and has nothing done again. Raises: as `open`, NotFound and Malformed.
        """
        async with self.open("POST", headers, message) as answer:
            _check(answer)
            async with aclosing(answer.messages()) as told:
                async for each in told:
                    yield each, answer
        tries = 0
        while resumes and answer.last_id is not None and tries < _RESUMED:
            tries += 1
            await asyncio.sleep(answer.retry_s)
            before = answer
            resumed = {**headers, "Last-Event-ID": before.last_id or ""}
            async with self.open("GET", resumed) as answer:
                if answer.status != HTTPStatus.OK:
                    return
                answer.last_id, answer.retry_s = before.last_id, before.retry_s
                async with aclosing(answer.messages()) as told:
                    async for each in told:
                        tries = 0
                        yield each, answer


_NOT_NOW = frozenset({HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE})


def _check(answer: Answer) -> None:
    """Let through whatever can hold a message."""
    status = answer.status
    if status < HTTPStatus.MULTIPLE_CHOICES:
        return
    if status in _NOT_NOW:
        raise Unavailable(f"the server is too busy: HTTP {status}")
    if status == HTTPStatus.NOT_FOUND and answer.response.request_info.headers.get(
        "Mcp-Session-Id"
    ):
        raise NotFound("the server has forgotten the session")
    if answer.response.content_type == "application/json":
        return
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        raise Lost(f"the server failed: HTTP {status}")
    raise Malformed(f"the server refuses: HTTP {status}")


def _read(reader: EventReader, piece: bytes) -> list[Event]:
    try:
        return reader.feed(piece)
    except TooLarge as error:
        raise Malformed(f"an event is larger than {LARGEST >> 20} MB") from error


def _message(data: bytes) -> dict[str, Any]:
    try:
        message = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise Malformed("its answer is not JSON") from error
    if not isinstance(message, dict):
        raise Malformed("its answer is no message")
    return message
