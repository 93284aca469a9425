"""Sends one request and reads its whole answer; says what may be tried again.

Tried again: GET, and PATCH that sets absolute values, on 429, 502, 503, 504 and when the
connection fails. Never: 401 and 403 (a wrong token fails at once), and whatever creates or acts.
"""

import contextlib
import io
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from inspect import isawaitable
from typing import Any

import aiohttp
import orjson
import stamina
from yarl import URL

from entrance.errors import Malformed, Unavailable
from orchestrator.adapters.polarion.answers import Answer, error_for, retry_after

type Headers = Mapping[str, str]
type Authorize = Callable[[str, URL], Headers | Awaitable[Headers]]
"""Headers that let one request in, by its method and address. The token stays with whoever made it."""

JSON = "application/json"
BYTES_OR_JSON = "application/octet-stream, application/json"
MAX_ANSWER_BYTES = 64 * 1024 * 1024
MAX_ERROR_BYTES = 64 * 1024
CHUNK = 64 * 1024
_TRY_AGAIN = frozenset(
    {
        HTTPStatus.TOO_MANY_REQUESTS,
        HTTPStatus.BAD_GATEWAY,
        HTTPStatus.SERVICE_UNAVAILABLE,
        HTTPStatus.GATEWAY_TIMEOUT,
    }
)


@dataclass(frozen=True, slots=True)
class Patience:
    """How long to wait for one answer, and how often to try again."""

    timeout_s: float = 30.0
    transfer_timeout_s: float = 300.0
    attempts: int = 4
    wait_initial_s: float = 0.2
    wait_max_s: float = 5.0
    longest_retry_after_s: float = 30.0


class Again(Unavailable):
    """Worth another try. `retry_after_s` as the server said."""


class Transport:
    """HTTP to one Polarion. Raises nothing but `entrance.errors`."""

    def __init__(
        self, session: aiohttp.ClientSession, authorize: Authorize, patience: Patience
    ) -> None:
        self._session = session
        self._authorize = authorize
        self._patience = patience

    async def get(self, url: URL, what: str) -> Any:
        """The answer's JSON. Raises: entrance.errors."""
        return await self._with_patience("GET", url, None, what)

    async def patch(
        self, url: URL, body: Mapping[str, Any], what: str, *, absolute: bool = True
    ) -> None:
        """Set values. `absolute`: doing it twice is the same as once. Raises: entrance.errors."""
        if absolute:
            await self._with_patience("PATCH", url, orjson.dumps(body), what)
        else:
            await self._once("PATCH", url, orjson.dumps(body), what)

    async def post(self, url: URL, body: Mapping[str, Any], what: str) -> Any:
        """Create or act, once. Raises: entrance.errors; after Unavailable it may have been done."""
        return await self._once("POST", url, orjson.dumps(body), what)

    async def delete(self, url: URL, body: Mapping[str, Any] | None, what: str) -> None:
        """Raises: entrance.errors; after Unavailable it may have been done."""
        await self._once("DELETE", url, None if body is None else orjson.dumps(body), what)

    async def upload(self, url: URL, form: aiohttp.FormData, what: str) -> Any:
        """Send a form, once. Raises: entrance.errors; after Unavailable it may have been done."""
        async with self._answering("POST", url, what, data=form, transfer=True) as response:
            answer = await _whole(response, what)
        return _good(answer, what)

    async def download(self, url: URL, what: str, limit_bytes: int) -> AsyncIterator[bytes]:
        """The body's chunks. Raises: entrance.errors; Malformed above the limit."""
        length = 0
        headers = {"Accept": BYTES_OR_JSON}
        async with self._answering("GET", url, what, headers=headers, transfer=True) as response:
            if response.status != HTTPStatus.OK:
                raise error_for(await _whole(response, what), what)
            async for chunk in response.content.iter_chunked(CHUNK):
                length += len(chunk)
                if length > limit_bytes:
                    raise Malformed(f"{what}: it is larger than {limit_bytes} bytes")
                yield chunk

    async def _with_patience(self, method: str, url: URL, body: bytes | None, what: str) -> Any:
        patience = self._patience
        async for attempt in stamina.retry_context(
            on=self._wait_before_next,
            attempts=patience.attempts,
            timeout=None,
            wait_initial=patience.wait_initial_s,
            wait_max=patience.wait_max_s,
            wait_jitter=patience.wait_initial_s,
        ):
            with attempt:
                return await self._once(method, url, body, what)
        raise AssertionError("the last attempt returns or raises")

    def _wait_before_next(self, error: Exception) -> bool | float:
        if not isinstance(error, Again):
            return False
        wished = error.retry_after_s
        if wished is None:
            return True
        if wished > self._patience.longest_retry_after_s:
            return False
        return max(wished, self._patience.wait_initial_s)

    async def _once(self, method: str, url: URL, body: bytes | None, what: str) -> Any:
        headers = {"Content-Type": JSON} if body is not None else {}
        data = None if body is None else io.BytesIO(body)  # sent piece by piece, not in one go
        async with self._answering(method, url, what, data=data, headers=headers) as response:
            answer = await _whole(response, what)
        return _good(answer, what)

    @contextlib.asynccontextmanager
    async def _answering(
        self, method: str, url: URL, what: str, *, transfer: bool = False, **options: Any
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        """One request in flight; whatever fails on the way is `Again`."""
        patience = self._patience
        total = patience.transfer_timeout_s if transfer else patience.timeout_s
        token = self._authorize(method, url)
        token = await token if isawaitable(token) else token
        headers = {"Accept": JSON, **options.pop("headers", {}), **token}
        try:
            async with self._session.request(
                method,
                url,
                headers=headers,
                allow_redirects=False,  # the token must not follow to another host
                timeout=aiohttp.ClientTimeout(total=total, sock_connect=patience.timeout_s),
                **options,
            ) as response:
                yield response
        except aiohttp.ClientConnectorCertificateError as error:
            raise Unavailable(
                f"{what}: the certificate of {url.host} isn't trusted; name its authority in SSL_CERT_FILE"
            ) from error
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            reason = str(error) or type(error).__name__
            raise Again(f"{what}: Polarion at {url.origin()} can't be reached: {reason}") from error


async def _whole(response: aiohttp.ClientResponse, what: str) -> Answer:
    ok = response.status < HTTPStatus.BAD_REQUEST
    limit = MAX_ANSWER_BYTES if ok else MAX_ERROR_BYTES
    body = bytearray()
    async for chunk in response.content.iter_chunked(CHUNK):
        body += chunk
        if len(body) > limit:
            if ok:
                raise Malformed(f"{what}: Polarion's answer is larger than {limit} bytes")
            break
    return Answer(
        response.status,
        response.content_type.lower(),
        bytes(body),
        retry_after(response.headers.get("Retry-After")),
    )


def _good(answer: Answer, what: str) -> Any:
    if answer.ok:
        return answer.json(what)
    error = error_for(answer, what)
    if answer.status in _TRY_AGAIN:
        raise Again(str(error), retry_after_s=answer.retry_after_s) from error
    raise error
