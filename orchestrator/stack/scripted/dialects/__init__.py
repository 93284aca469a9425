"""The providers' protocols. A dialect reads requests and writes answers; it knows no scenario and no socket.

- `anthropic`: Messages, streamed and not, count_tokens.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Literal, Protocol

from orchestrator.stack.scripted.answers import Answer
from orchestrator.stack.scripted.request import Request

type Purpose = Literal["answer", "count"]


class Dialect(Protocol):
    """What the server needs of a protocol."""

    @property
    def paths(self) -> Mapping[str, Purpose]:
        """aiohttp route patterns of the POST endpoints, and what each is for."""

    def read(self, body: bytes, path: str) -> Request:
        """Make a request of a POST body.

        Raises:
            NotUnderstood: it is not one of this protocol's.
        """

    def whole(self, answer: Answer) -> Mapping[str, Any]:
        """The JSON of an answer that is not streamed."""

    def pieces(self, answer: Answer) -> Iterator[bytes]:
        """A streamed answer's server-sent events, in order."""

    def count(self, tokens: int) -> Mapping[str, Any]:
        """The JSON of an answer to a count."""

    def error(self, status: int, message: str) -> Mapping[str, Any]:
        """The JSON of an error with this status."""
