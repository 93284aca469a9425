"""The OpenSandbox server's HTTP API; its errors and the network's become ours."""

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Any

import aiohttp

from entrance.errors import Conflict, Forbidden, Malformed, NotFound, SandgateError, Unavailable

CALL_S = 20.0
CREATE_S = 120.0
"""Creates are done one after the other, about two a second: a queue of them takes long."""
ANSWER_LIMIT_BYTES = 1 << 20


class TooLong(Malformed):
    """An answer longer than its reader allows."""


class Unanswered(Unavailable):
    """The call went out and no answer came: what it asked for may be done, or may yet be."""


class Server:
    """Calls to one OpenSandbox server. `base_url` has no path; the session is the caller's."""

    def __init__(self, session: aiohttp.ClientSession, base_url: str, api_key: str) -> None:
        self._session = session
        self._base = base_url.rstrip("/")
        self._key = {"OPEN-SANDBOX-API-KEY": api_key}

    async def create(self, request: Mapping[str, Any]) -> str:
        """Make a sandbox and return its id. Raises: Unavailable, Malformed (it refuses the request)."""
        path = "/v1/sandboxes"
        async with self.call("POST", path, json_body=request, timeout_s=CREATE_S) as answer:
            body = await read_json(answer)
        if not isinstance(body.get("id"), str):
            raise Malformed("the OpenSandbox server made a sandbox without an id")
        return str(body["id"])

    async def delete(self, sandbox: str) -> None:
        """End it. Raises: NotFound, Unavailable."""
        async with self.call("DELETE", f"/v1/sandboxes/{sandbox}"):
            pass

    async def pause(self, sandbox: str) -> None:
        """Stop everything in it as it is. Raises: NotFound, Conflict (it doesn't run), Unavailable."""
        async with self.call("POST", f"/v1/sandboxes/{sandbox}/pause"):
            pass

    async def expire_at(self, sandbox: str, at: datetime) -> None:
        """Let it live until `at`, and no longer. Raises: NotFound, Unavailable."""
        path = f"/v1/sandboxes/{sandbox}/renew-expiration"
        async with self.call("POST", path, json_body={"expiresAt": at.isoformat()}):
            pass

    def reached(self, path: str) -> tuple[str, Mapping[str, str]]:
        """The URL of a path, and the headers that it takes, for whoever makes calls of their own."""
        return self._base + path, self._key

    async def answers(self) -> bool:
        """Is the server itself there?"""
        try:
            async with self.call("GET", "/health", timeout_s=5):
                return True
        except SandgateError:
            return False

    @asynccontextmanager
    async def call(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        json_body: Any = None,
        data: Any = None,
        timeout_s: float = CALL_S,
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        """Make one call and hand out its answer, when that is a good one.

        Raises: what `error_of` says, also while the answer is read inside the block.
        """
        try:
            async with self._session.request(
                method,
                self._base + path,
                params=query,
                headers={**self._key, **(headers or {})},
                json=json_body,
                data=data,
                timeout=aiohttp.ClientTimeout(total=timeout_s),
                allow_redirects=False,
            ) as answer:
                if answer.status >= 300:  # noqa: PLR2004 - nothing here redirects
                    raise error_of(answer.status, await _text(answer), what=f"{method} {path}")
                yield answer
        except TimeoutError as error:
            raise Unanswered(
                f"OpenSandbox did not answer {method} {path} within {timeout_s:.0f} s"
            ) from error
        except aiohttp.ClientConnectorError as error:
            raise Unavailable(f"OpenSandbox at {self._base} can't be reached: {error}") from error
        except aiohttp.ClientError as error:
            raise Unanswered(
                f"OpenSandbox broke off {method} {path}: {type(error).__name__}"
            ) from error


def error_of(status: int, text: str, *, what: str) -> SandgateError:
    """The error that a bad answer means, by what the caller does about it."""
    code, message = _said(text)
    sentence = f"OpenSandbox: {what}: {status} {code} {message}".strip()
    match status:
        case 404:
            return NotFound(sentence)
        case 401 | 403:
            return Forbidden(sentence)
        case 409:
            return Conflict(sentence)
        case 429:
            return Unavailable(sentence)
        case _ if status >= 500:  # noqa: PLR2004 - the 5xx range
            return Unavailable(sentence)
        case _:
            return Malformed(sentence)


async def read_bytes(answer: aiohttp.ClientResponse, limit: int) -> bytes:
    """The answer's body. Raises: TooLong beyond `limit` bytes."""
    body, cut = await read_some(answer, limit)
    if cut:
        raise TooLong(f"an answer of OpenSandbox is longer than {limit} bytes")
    return body


async def read_some(answer: aiohttp.ClientResponse, limit: int) -> tuple[bytes, bool]:
    """The first `limit` bytes of the answer's body, and whether there is more."""
    parts, size = [], 0
    async for part in answer.content.iter_any():
        parts.append(part)
        size += len(part)
        if size > limit:
            answer.close()
            return b"".join(parts)[:limit], True
    return b"".join(parts), False


async def read_json(answer: aiohttp.ClientResponse) -> Mapping[str, Any]:
    """The answer's JSON object. Raises: Malformed."""
    raw = await read_bytes(answer, ANSWER_LIMIT_BYTES)
    try:
        body = json.loads(raw)
    except ValueError as error:
        raise Malformed("OpenSandbox answered something that is no JSON") from error
    if not isinstance(body, dict):
        raise Malformed("OpenSandbox answered JSON that is no object")
    return body


async def _text(answer: aiohttp.ClientResponse) -> str:
    body, _ = await read_some(answer, 64 << 10)
    return body.decode(errors="replace")


def _said(text: str) -> tuple[str, str]:
    """Code and message of an error's body, cut to what a log line can bear."""
    try:
        body = json.loads(text)
    except ValueError:
        return "", text.strip()[:300]
    if isinstance(body, dict) and isinstance(body.get("detail"), dict):
        body = body["detail"]
    if not isinstance(body, dict):
        return "", text.strip()[:300]
    return str(body.get("code", "")), str(body.get("message") or body.get("detail") or "")[:300]
