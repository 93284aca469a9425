"""One server's URL: requests go out with the credential on, answers come back as messages.

Redirects are not followed, cookies not kept. Nothing is ever sent a second time, unless the server
has said that it didn't take it: whatever breaks after a request began to go out is `Lost`.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import NamedTuple, Protocol

import aiohttp
from aiohttp import hdrs

from entrance.errors import Unavailable
from entrance.gated import Gate, GatedBody, open_gate
from entrance.mcp.connection import Lost
from entrance.mcp.messages import Failure, Json, as_bytes
from entrance.mcp.upstream.answer import EVENTS, NOT_TAKEN, Answer, Hear
from entrance.ports import McpServer
from entrance.vault.credentials import SecretHeaders
from entrance.vault.discovery import Challenge

_CONNECT_S = 10.0
_IDLE_S = 4.0
"""Shorter than servers keep a connection: one that they have just closed would lose a request."""
_RESUMED = 5
_HEADERS: Mapping[str, str] = {
    hdrs.ACCEPT: f"application/json, {EVENTS}",
    hdrs.ACCEPT_ENCODING: "identity",
}
_MESSAGE_HEADERS: Mapping[str, str] = {**_HEADERS, hdrs.CONTENT_TYPE: "application/json"}
"""Of a request that brings no message, and of one that does."""


class Secrets(Protocol):
    """Puts secrets on requests."""

    async def headers_for(self, server: McpServer, method: str, url: str) -> SecretHeaders:
        """The header that carries a server's secret, if it takes one. Raises: SandgateError."""
        ...

    async def refused(self, server: McpServer, shown: SecretHeaders, why: Challenge) -> bool:
        """It didn't take what it was shown: whether there is something else. Raises: SandgateError."""
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


class Outgoing(NamedTuple):
    """A request to a server; what all of them have (see `_HEADERS`), and the credential, is added."""

    method: str
    headers: Mapping[str, str]
    message: Json | None = None
    url: str = ""
    """Another place than the server's own."""
    gate: Gate = open_gate
    """What the message waits for."""


class Endpoint:
    """A server, as it is reached."""

    def __init__(self, http: aiohttp.ClientSession, server: McpServer, secrets: Secrets) -> None:
        self._http = http
        self._server = server
        self._secrets = secrets

    @property
    def url(self) -> str:
        """Where it is."""
        return self._server.url

    @asynccontextmanager
    async def open(self, request: Outgoing) -> AsyncIterator[Answer]:
        """One request, and its answer while the block runs. What its gate raises makes this raise Lost.

        A server that doesn't take what it is shown has not taken the request either: it is sent
        once more, if there is something else to show.

        Raises: Unavailable when it surely did not arrive; Lost when that isn't known; SandgateError
        when the credential can't be had.
        """
        try:
            answer = await self._ask(request)
            async with answer.response:
                if not await self._may_show_another(answer):
                    yield answer
                    return
            answer = await self._ask(request)
            async with answer.response:
                yield answer
        except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError) as error:
            raise Unavailable(f"{self._server.name} can't be reached") from error
        except (aiohttp.ClientError, ConnectionError) as error:
            raise Lost(f"{self._server.name} broke off: {type(error).__name__}") from error

    async def _may_show_another(self, answer: Answer) -> bool:
        if answer.status not in NOT_TAKEN:
            return False
        told = ", ".join(answer.response.headers.getall(hdrs.WWW_AUTHENTICATE, ()))
        why = Challenge(answer.status, told)
        return await self._secrets.refused(self._server, answer.secret, why)

    async def _ask(self, request: Outgoing) -> Answer:
        """The answer to one request. Who has it must give it back. Raises: aiohttp's errors."""
        url, secret = await self._way(request)
        body, usual = None, _HEADERS
        if request.message is not None:
            body, usual = GatedBody(as_bytes(request.message), request.gate), _MESSAGE_HEADERS
        sent = {**usual, **request.headers, **secret}
        response = await self._http.request(
            request.method, url, data=body, headers=sent, allow_redirects=False
        )
        return Answer(response.status, response.headers, response=response, secret=secret)

    async def _way(self, request: Outgoing) -> tuple[str, SecretHeaders]:
        """Where such a request goes, and what opens the way. Raises: SandgateError."""
        url = request.url or self.url
        return url, await self._secrets.headers_for(self._server, request.method, url)

    async def say(
        self, message: Json, headers: Mapping[str, str], hear: Hear, gate: Gate, *, resumes: bool
    ) -> Json | Failure | None:
        """Send a message, and have what the server says to it heard: until there is an outcome, or no more.

        The message waits for `gate`.

        A stream that is cut is taken up where it ended, where the server can do that: this asks for
        what was not heard, and has nothing done again. Raises: as `open`, `Answer.require_messages`
        and `Answer.tell`.
        """
        async with self.open(Outgoing("POST", headers, message, gate=gate)) as answer:
            answer.require_messages()
            outcome = await answer.tell(hear)
        tries = 0
        while resumes and outcome is None and answer.last_id is not None and tries < _RESUMED:
            await asyncio.sleep(answer.retry_s)
            before = answer
            resumed = {**headers, "Last-Event-ID": before.last_id or ""}
            async with self.open(Outgoing("GET", resumed)) as answer:
                if answer.status != HTTPStatus.OK:
                    return None
                answer.last_id, answer.retry_s = before.last_id, before.retry_s
                outcome = await answer.tell(hear)
            tries = 0 if answer.heard else tries + 1
        return outcome
