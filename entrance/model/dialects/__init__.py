"""How each provider's API is read. Each is a `Dialect` [pure].

- `anthropic`: Messages; `openai_responses`, `openai_chat` (`openai`: what they share); `gemini`.
- `anthropic_rules`, `responses_rules`, `chat_rules`, `gemini_rules`: what a request may ask for
  (`rules`: what they share).
- `trouble`: what goes wrong, in kinds; `faults`: their words for it.
- `sse`: server-sent events out of chunks; `stream`: what all meters do with them; `reading`: counts
  and parts out of any JSON.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from entrance.decision import Deny
from entrance.model.dialects.trouble import Fault, Faults
from entrance.model.tokens import Tokens, tokens_in


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One path that is served. `metered`: its answers cost money and say how much."""

    path: str
    metered: bool = True
    model: str = ""
    """The model, where the path names it."""
    streams: bool = False
    """Whether it always streams, where the path says so."""
    query: Mapping[str, str] = field(default_factory=dict)
    """Query parameters that a request must have."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What a request asks for. `body` is what is sent on: exactly what was judged, nothing else."""

    model: str
    streams: bool
    body: bytes = field(repr=False)
    max_output: int | None = None
    """The most tokens that the answer may have; None when the request leaves it to the model."""
    least_output: int = 1
    """With a lower limit than this the provider would not take the request."""
    caches: Literal["no", "yes", "long"] = "no"
    """Whether parts of the prompt may be written to a cache, and for long, at a price of its own."""
    images: int = 0
    image_bytes: int = 0
    """How many bytes of the body are pictures: their tokens do not go by length."""
    keeps_usage: bool = False
    """Its client did not ask for the usage that we have the provider tell; it is kept from it."""

    @property
    def guess(self) -> Tokens:
        """The tokens of the prompt, as long as nobody has said."""
        return Tokens(input=tokens_in(len(self.body) - self.image_bytes) + self.images * 1000)


class StreamMeter(Protocol):
    """Watches one answer stream go by. Fed chunks as they come, split anywhere."""

    def feed(self, chunk: bytes) -> bytes:
        """Take a chunk; return what may be sent on now: whole events only."""
        ...

    def rest(self) -> bytes:
        """What is left at the end of the stream."""
        ...

    def end(self, status: int, code: str, message: str) -> bytes:
        """A well-formed end for the stream, which has to be cut here."""
        ...

    @property
    def tokens(self) -> Tokens:
        """What was used so far, by the provider's words or our estimate."""
        ...

    @property
    def final(self) -> bool:
        """Whether `tokens` is the provider's last word rather than our estimate."""
        ...

    @property
    def over(self) -> bool:
        """Whether the stream has told that it is complete, or that it failed."""
        ...

    @property
    def fault(self) -> Fault | None:
        """The error that the provider told of in the stream, if it did."""
        ...


class Dialect(Protocol):
    """One of a provider's APIs."""

    @property
    def query(self) -> frozenset[str]:
        """Names of query parameters that are passed on."""
        ...

    @property
    def headers(self) -> frozenset[str]:
        """Names of the client's headers that are passed on, lower case."""
        ...

    @property
    def faults(self) -> Faults:
        """How it tells of errors."""
        ...

    @property
    def stop(self) -> int:
        """The status that its harness takes as the end: what it gets when nothing is left to try."""
        ...

    def endpoint(self, path: str) -> Endpoint | None:
        """What is served at a path; None for nothing."""
        ...

    def read_request(self, endpoint: Endpoint, raw: bytes) -> Asked | Deny:
        """What a body asks for; Deny for what the door does not let through.

        Raises: ValueError, TypeError when it is not a request of this dialect.
        """
        ...

    def capped(self, asked: Asked, max_output: int) -> Asked:
        """The same request for an answer of at most so many tokens."""
        ...

    def read_answer(self, raw: bytes) -> Tokens | None:
        """The usage in a whole answer; None when there is none in it."""
        ...

    def meter(self, asked: Asked) -> StreamMeter:
        """A meter for one stream."""
        ...

    def error(self, status: int, code: str, message: str) -> Mapping[str, Any]:
        """The body of an error answer, as the provider would shape it."""
        ...
