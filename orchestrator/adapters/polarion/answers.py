"""What an answer's status and body mean for the caller [pure]. Error bodies may be HTML, or nothing."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

import orjson

from entrance.errors import Conflict, Forbidden, Malformed, NotFound, SandgateError, Unavailable

MAX_DETAIL = 500
_TITLE = re.compile(r"<title[^>]*>([^<]{1,200})", re.IGNORECASE)


class Rejected(Malformed):
    """Polarion refused the request as wrong (400, 405, 406, 413, 415): the same one fails again.

    `parameter` names the query parameter at fault, `pointer` the place in the body, if said.
    """

    def __init__(
        self, message: str, *, status: int, parameter: str = "", pointer: str = ""
    ) -> None:
        super().__init__(message)
        self.status = status
        self.parameter = parameter
        self.pointer = pointer


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole answer. `content_type` is without its parameters, lower case."""

    status: int
    content_type: str
    body: bytes
    retry_after_s: float | None = None

    @property
    def ok(self) -> bool:
        return HTTPStatus.OK <= self.status < HTTPStatus.MULTIPLE_CHOICES

    def json(self, what: str) -> Any:
        """The body of a good answer; None when there is none. Raises: Malformed."""
        if not self.body:
            return None
        if self.content_type == "text/html":
            raise Malformed(
                f"{what}: Polarion answered with the page {_page_title(self.body)!r} instead of JSON;"
                " is the address right, and does it let access tokens in without a log-in page?"
            )
        try:
            return orjson.loads(self.body)
        except orjson.JSONDecodeError as error:
            raise Malformed(f"{what}: Polarion answered what is no JSON: {error}") from error


def error_for(answer: Answer, what: str) -> SandgateError:
    """The error that an answer which isn't good stands for. `what` says what was asked."""
    first = _first_error(answer)
    message = f"{what}: Polarion answered {answer.status}{_detail(answer, first)}"
    status = answer.status
    if status in (HTTPStatus.TOO_MANY_REQUESTS, *range(500, 600)):
        return Unavailable(message, retry_after_s=answer.retry_after_s)
    if HTTPStatus.MULTIPLE_CHOICES <= status < HTTPStatus.BAD_REQUEST:
        return Forbidden(
            f"{message}, a redirection: it wants a log-in where an access token should do"
        )
    if status in _KINDS:
        return _KINDS[status](message)
    source = _member(first, "source")
    parameter = str(source.get("parameter") or "")
    if parameter == "workflowAction":
        return Conflict(message)  # the item's status no longer has the action: look again
    return Rejected(
        message, status=status, parameter=parameter, pointer=str(source.get("pointer") or "")
    )


_KINDS: Mapping[int, type[SandgateError]] = {
    HTTPStatus.UNAUTHORIZED: Forbidden,
    HTTPStatus.FORBIDDEN: Forbidden,
    HTTPStatus.NOT_FOUND: NotFound,
    HTTPStatus.GONE: NotFound,
    HTTPStatus.CONFLICT: Conflict,
}


def retry_after(value: str | None) -> float | None:
    """Seconds of a Retry-After header; None for a date or anything else."""
    if value is None or not value.strip().isdecimal():
        return None
    return float(value.strip()[:6])


def _first_error(answer: Answer) -> Mapping[str, Any]:
    try:
        body = orjson.loads(answer.body)
    except orjson.JSONDecodeError:
        return {}
    errors = body.get("errors") if isinstance(body, dict) else None
    rows = errors if isinstance(errors, list) else []
    return next((row for row in rows if isinstance(row, dict)), {})


def _detail(answer: Answer, first: Mapping[str, Any]) -> str:
    text = first.get("detail") or first.get("title")
    if not text and answer.content_type == "text/html":
        text = _page_title(answer.body)
    return f": {str(text)[:MAX_DETAIL]}" if text else ""


def _page_title(body: bytes) -> str:
    match = _TITLE.search(body[:20_000].decode("utf-8", "replace"))
    return match.group(1).strip() if match else "without a title"


def _member(of: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = of.get(name)
    return value if isinstance(value, dict) else {}
