"""What a handler is given and what it returns."""

import json
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import Any

from execd.body import Body
from execd.errors import Refused, invalid
from execd.wire import Head, split_target


@dataclass(frozen=True, slots=True)
class Request:
    """A request with a valid token. `path` and `query` are decoded; `target` is as it was sent."""

    head: Head
    target: str
    path: str
    query: dict[str, list[str]]
    body: Body
    args: tuple[str, ...] = ()

    def at(self, target: str) -> "Request":
        """Return this request for another target."""
        path, query = split_target(target)
        return replace(self, target=target, path=path, query=query)

    def one(self, name: str, default: str | None = None) -> str:
        """Return a query field. Raises: Refused 400 when it is missing and has no default."""
        values = self.query.get(name)
        if values:
            return values[0]
        if default is None:
            raise invalid(f"the query needs {name}")
        return default

    def number(self, name: str, default: int | None) -> int | None:
        """Return a query field as a whole number. Raises: Refused 400 when it isn't one."""
        if name not in self.query:
            return default
        try:
            return int(self.one(name)[:20])
        except ValueError as error:
            raise invalid(f"{name} must be a whole number") from error


@dataclass(frozen=True, slots=True)
class Answer:
    """A response. A streamed body without `length` goes out chunked. One `bare` has no body.

    `bare` is for answers of others (proxy) that have none although headers may speak of one.
    """

    status: int = 200
    body: bytes | AsyncGenerator[bytes, None] = b""
    content_type: str = "application/json"
    headers: tuple[tuple[str, str], ...] = ()
    length: int | None = None
    bare: bool = False


Handler = Callable[[Request], Awaitable[Answer]]


def of_json(value: Any, status: int = 200) -> Answer:
    """Return `value` as a JSON answer."""
    return Answer(status, json.dumps(value).encode())


def of_refusal(refused: Refused) -> Answer:
    """Return the contract's error shape."""
    return of_json({"code": refused.code, "message": refused.message}, refused.status)


def head_bytes(answer: Answer, *, framing: str, keep: bool) -> bytes:
    """Return the head of `answer`. `framing` is the header that says where the body ends, if any."""
    try:
        phrase = HTTPStatus(answer.status).phrase
    except ValueError:
        phrase = "Status"
    lines = [f"HTTP/1.1 {answer.status} {phrase}"]
    if answer.content_type:
        lines.append(f"Content-Type: {answer.content_type}")
    lines += [f"{name}: {value}" for name, value in answer.headers]
    lines += [framing] if framing else []
    lines += [] if keep else ["Connection: close"]
    return "\r\n".join([*lines, "", ""]).encode("latin-1", "replace")
