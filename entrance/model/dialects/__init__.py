"""How each provider's API is read. One module a dialect; each is a `Dialect` [pure].

- `anthropic`: Messages.
- `sse`: server-sent events out of chunks, for those who stream that way.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from entrance.decision import Deny
from entrance.model.tokens import Tokens


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One path that is served. `metered`: its answers cost money and say how much."""

    path: str
    metered: bool = True


@dataclass(frozen=True, slots=True)
class Asked:
    """What a request asks for. `body` is what is sent on: exactly what was judged, nothing else."""

    model: str
    streams: bool
    body: bytes = field(repr=False)


class StreamMeter(Protocol):
    """Watches one answer stream go by. Fed chunks as they come, split anywhere."""

    def feed(self, chunk: bytes) -> bytes:
        """Take a chunk; return what may be sent on now: whole events only."""
        ...

    def rest(self) -> bytes:
        """What is left at the end of the stream."""
        ...

    @property
    def tokens(self) -> Tokens | None:
        """What was used so far; None while nothing is known."""
        ...

    @property
    def final(self) -> bool:
        """Whether `tokens` is the provider's last word rather than our estimate."""
        ...


class Dialect(Protocol):
    """One provider's API."""

    @property
    def endpoints(self) -> Mapping[str, Endpoint]:
        """What is served, by path."""
        ...

    @property
    def query(self) -> frozenset[str]:
        """Names of query parameters that are passed on."""
        ...

    def read_request(self, raw: bytes) -> Asked | Deny:
        """What a body asks for; Deny for what the door does not let through.

        Raises: ValueError when it is not a request of this dialect.
        """
        ...

    def read_answer(self, raw: bytes) -> Tokens | None:
        """The usage in a whole answer; None when there is none in it."""
        ...

    def meter(self) -> StreamMeter:
        """A meter for one stream."""
        ...

    def stream_error(self, status: int, code: str, message: str) -> bytes:
        """A well-formed end for a stream that has to be cut."""
        ...
