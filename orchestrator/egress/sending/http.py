"""Batches of records by HTTP POST."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

import httpx
from pydantic import SecretStr

from entrance.errors import Forbidden, Malformed, Unavailable
from orchestrator.egress.sending.messages import Message
from orchestrator.egress.sending.streams import trusting

TIMEOUT = httpx.Timeout(30.0, connect=10.0)
LONGEST_WAIT_S = 300.0
MOST_BYTES = 1 << 20
"""Of an answer; one that is longer costs its connection."""
Body = Literal["ndjson", "array"]
_TYPES: Mapping[Body, str] = {"ndjson": "application/x-ndjson", "array": "application/json"}
_AGAIN = frozenset({408, 425, 429})
_NOT_US = frozenset({401, 403, 407})


class HttpTarget:
    """POSTs to one URL; any 2xx means that the batch is there.

    Each batch carries its name as `Idempotency-Key`: after a crash the same batch may come twice, and
    a receiver can tell by that, or by each event's `metadata.uid`.
    """

    def __init__(
        self,
        url: str,
        headers: Mapping[str, SecretStr],
        body: Body = "ndjson",
        *,
        ca: Path | None = None,
    ) -> None:
        self._url = url
        self._body = body
        self._http = httpx.Client(
            verify=trusting(ca),
            headers={name: value.get_secret_value() for name, value in headers.items()},
            timeout=TIMEOUT,
            trust_env=False,
            follow_redirects=False,
        )

    def begin(self, mark: str) -> str:
        """Nothing is to be done."""
        return mark

    def send(self, batch: Sequence[Message], name: str) -> str:
        headers = {"Content-Type": _TYPES[self._body], "Idempotency-Key": name}
        content = self._content(batch)
        try:
            with self._http.stream("POST", self._url, content=content, headers=headers) as answer:
                _pass_over(answer)
        except httpx.HTTPError as error:
            raise Unavailable(f"{self._place} can't be reached: {error}") from error
        if not answer.is_success:
            raise self._refused(answer)
        return ""

    def close(self) -> None:
        self._http.close()

    @property
    def _place(self) -> str:
        """The URL without what may be secret in it."""
        url = httpx.URL(self._url)
        return f"{url.scheme}://{url.host}{url.path}"

    def _content(self, batch: Sequence[Message]) -> bytes:
        if self._body == "array":
            return b"[" + b",".join(one.body for one in batch) + b"]"
        return b"".join(one.body + b"\n" for one in batch)

    def _refused(self, answer: httpx.Response) -> Unavailable | Forbidden | Malformed:
        said = f"{self._place} answered {answer.status_code}"
        if answer.is_server_error or answer.status_code in _AGAIN:
            return Unavailable(said, retry_after_s=_retry_after_s(answer))
        if answer.status_code in _NOT_US:
            return Forbidden(f"{said}: it does not know us; see --header")
        return Malformed(f"{said}: it does not take what is sent")


def _pass_over(answer: httpx.Response) -> None:
    """Take the body, which says nothing to us, so that the connection can be used again; but not for ever."""
    size = 0
    for piece in answer.iter_raw():
        size += len(piece)
        if size > MOST_BYTES:
            return


def _retry_after_s(answer: httpx.Response) -> float | None:
    text = answer.headers.get("Retry-After", "")
    return min(float(text), LONGEST_WAIT_S) if text.isdecimal() else None
