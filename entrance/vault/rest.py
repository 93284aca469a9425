"""One request that carries a secret, to a git host's API or for a token, and what its answer means.

Tried once: whoever asks knows what may be asked again. No redirect is followed with a secret.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Any
from urllib.parse import urlencode

import aiohttp
import orjson
from aiohttp import hdrs

from entrance.errors import Conflict, Forbidden, Malformed, NotFound, SandgateError, Unavailable
from entrance.intake import read_whole
from entrance.vault.credentials import SecretHeaders

TIMEOUT_S = 30.0
CONNECT_S = 10.0
MAX_ANSWER_BYTES = 8 << 20
MAX_DETAIL = 300
LONGEST_WAIT_S = 3600.0
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_BUSY = frozenset({HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_EARLY, HTTPStatus.TOO_MANY_REQUESTS})
_LIMIT = re.compile(r"rate limit|abuse detection", re.IGNORECASE)


class Rejected(Malformed):
    """The host takes the request for wrong: the same one fails again. `said` is what it said."""

    def __init__(self, message: str, *, status: int, said: str) -> None:
        super().__init__(message)
        self.status = status
        self.said = said


@dataclass(frozen=True, slots=True)
class Answer:
    """A good answer: its JSON, None when it has none, and its headers."""

    status: int
    json: Any
    headers: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Asked:
    """A request. `what` says in an error what was wanted."""

    method: str
    url: str
    what: str
    body: Mapping[str, Any] | None = None
    headers: Mapping[str, str] | None = None
    timeout_s: float = TIMEOUT_S
    form: Mapping[str, str] | None = field(default=None, repr=False)
    """In place of `body`; it may hold a secret."""


async def ask(http: aiohttp.ClientSession, asked: Asked, secret: SecretHeaders) -> Answer:
    """Send it, and read the whole answer.

    Raises: Unavailable (also when a rate limit is reached), Forbidden, NotFound, Conflict (409),
    Rejected (other 4xx), Malformed.
    """
    headers = {hdrs.ACCEPT: "application/json", **(asked.headers or {}), **secret}
    data = None if asked.body is None else orjson.dumps(asked.body)
    if asked.form is not None:
        data = urlencode(asked.form).encode()
        headers[hdrs.CONTENT_TYPE] = "application/x-www-form-urlencoded"
    elif data is not None:
        headers[hdrs.CONTENT_TYPE] = "application/json"
    try:
        async with http.request(
            asked.method,
            asked.url,
            headers=headers,
            data=data,
            allow_redirects=False,
            timeout=aiohttp.ClientTimeout(total=asked.timeout_s, sock_connect=CONNECT_S),
        ) as answer:
            body = await read_whole(answer, MAX_ANSWER_BYTES)
            if body is None:
                raise Malformed(f"the host's answer is larger than {MAX_ANSWER_BYTES} bytes")
            if answer.status // 100 == 2:  # noqa: PLR2004 - the 2xx range
                return Answer(answer.status, _json(body, asked.what), answer.headers)
            said = _said(body, secret)
            raise _error(answer.status, answer.headers, asked.what, said)
    except (aiohttp.ClientError, TimeoutError, OSError) as error:
        why = f"{asked.what}: the host can't be reached or broke off: {type(error).__name__}"
        raise Unavailable(why) from error


def _json(body: bytes, what: str) -> Any:
    if not body.strip():
        return None
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise Malformed(f"{what}: the host answered what is no JSON; is it its API?") from error


def _said(body: bytes, secret: SecretHeaders) -> str:
    """What an error's body says, on one line, without the secret, however JSON spells it.

    GitHub, GitLab and Gitea each have a form of their own.
    """
    try:
        read = orjson.loads(body)
    except orjson.JSONDecodeError:
        return ""
    if not isinstance(read, dict):
        return ""
    parts = [read.get(name) for name in ("message", "error", "error_description", "errors")]
    text = "; ".join(_flat(part) for part in parts if part)
    shown = secret.redact_all(text.encode("utf-8", "replace")).decode()
    return _CONTROL.sub(" ", shown)[:MAX_DETAIL]


def _flat(part: Any) -> str:
    if isinstance(part, str):
        return part
    if isinstance(part, list):
        return ", ".join(_flat(one) for one in part)
    if isinstance(part, dict):
        told = part.get("message")
        return told if isinstance(told, str) else orjson.dumps(part, default=str).decode()
    return str(part)


def _error(status: int, headers: Mapping[str, str], what: str, said: str) -> SandgateError:
    message = f"{what}: the host answered {status}{f' ({said})' if said else ''}"
    if _is_busy(status, headers, said):
        return Unavailable(message, retry_after_s=wait_of(headers))
    if status in _KINDS:
        kind, then = _KINDS[status]
        return kind(message + then)
    if status < HTTPStatus.BAD_REQUEST:
        return Malformed(f"{message}, a redirection: name the place where it is now")
    return Rejected(message, status=status, said=said)


_REFUSED = (Forbidden, ": it refuses our credential; a person must look at it")
_UNSEEN = (NotFound, ": there is no such thing, or our credential may not see it")
_KINDS: Mapping[int, tuple[type[SandgateError], str]] = {
    HTTPStatus.UNAUTHORIZED: _REFUSED,
    HTTPStatus.FORBIDDEN: _REFUSED,
    HTTPStatus.NOT_FOUND: _UNSEEN,
    HTTPStatus.GONE: _UNSEEN,
    HTTPStatus.CONFLICT: (Conflict, ""),
}


def _is_busy(status: int, headers: Mapping[str, str], said: str) -> bool:
    """GitHub tells of its rate limits by 403, too."""
    limited = headers.get("x-ratelimit-remaining") == "0" or hdrs.RETRY_AFTER in headers
    if status == HTTPStatus.FORBIDDEN:
        return limited or _LIMIT.search(said) is not None
    return status in _BUSY or status >= HTTPStatus.INTERNAL_SERVER_ERROR


def wait_of(headers: Mapping[str, str]) -> float | None:
    """So many seconds the host wants to be left alone; None when it doesn't say.

    Retry-After is seconds or a date; a reset is a second of the epoch. Dates are the host's own, so
    they are held against its own Date.
    """
    said = headers.get(hdrs.RETRY_AFTER, "")
    reset = headers.get("x-ratelimit-reset") or headers.get("ratelimit-reset") or ""
    try:
        if said.isdecimal():
            wait = float(said)
        elif said:
            wait = (parsedate_to_datetime(said) - dated(headers)).total_seconds()
        elif reset.isdecimal():
            lifts = datetime.fromtimestamp(0, UTC) + timedelta(seconds=int(reset))
            wait = (lifts - dated(headers)).total_seconds()
        else:
            return None
    except (ValueError, OverflowError, TypeError):
        return None
    return min(max(wait, 0.0), LONGEST_WAIT_S)


def dated(headers: Mapping[str, str]) -> datetime:
    """When the host answered, by its own clock. Raises: ValueError."""
    at = parsedate_to_datetime(headers.get(hdrs.DATE, ""))
    return at if at.tzinfo else at.replace(tzinfo=UTC)
