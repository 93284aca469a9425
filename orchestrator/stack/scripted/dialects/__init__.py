"""The providers' protocols. A dialect reads requests and writes answers; it knows no scenario and no socket.

- `anthropic`: Messages, count_tokens. `openai_responses`: Responses, as Codex speaks it too.
  `openai_chat`: Chat Completions. `gemini`: generateContent, countTokens. All streamed and not.
- `anthropic_messages`, `responses_input`, `chat_messages`, `gemini_contents`: what was asked.
- `responses_output`: the items of an answer, and the events that tell them.
- `openai_errors`: what both of OpenAI's share. `history`: what was said, to prompts.
  `outcomes`: how a call ended, where only its text tells. `wire`: pieces of streams.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Literal, Protocol

from orchestrator.stack.scripted.answers import Answer, Tokens
from orchestrator.stack.scripted.dialects.wire import Piece
from orchestrator.stack.scripted.request import Request

type Purpose = Literal["answer", "count"]


class Dialect(Protocol):
    """What the server needs of a protocol."""

    @property
    def id_header(self) -> str:
        """The response header in which the provider names a request."""

    @property
    def paths(self) -> Mapping[str, Purpose]:
        """aiohttp route patterns of the POST endpoints, and what each is for."""

    def read(self, body: bytes, path: str) -> Request:
        """Make a request of a POST body; `path` is with its query.

        Raises:
            NotUnderstood: it is not one of this protocol's.
        """

    def told(self, tokens: Tokens) -> Tokens:
        """The tokens as far as this protocol can tell them apart."""

    def whole(self, answer: Answer, asked: Request) -> Mapping[str, Any]:
        """The JSON of an answer that is not streamed."""

    def pieces(self, answer: Answer, asked: Request) -> Iterator[Piece]:
        """A streamed answer's server-sent events, in order."""

    def count(self, tokens: int) -> Mapping[str, Any]:
        """The JSON of an answer to a count."""

    def error(
        self, status: int, message: str, retry_after_s: float | None = None
    ) -> Mapping[str, Any]:
        """The JSON of an error with this status."""

    def overflow(self, tokens: int) -> Mapping[str, Any]:
        """The JSON of the error 400 for a prompt of `tokens`, one more than fits."""
