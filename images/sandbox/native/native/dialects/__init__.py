"""The providers' protocols: a conversation to a request, the events of its stream to an answer [pure].

`anthropic`: Messages. `openai`: Responses. `google`: generateContent. `MODULES` has them by name;
only the one that is spoken is imported.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, Literal, Protocol

from native.conversation import Message, Reply
from native.patience import Kind

Stop = Literal["done", "cut", "refused", "paused", "unusable"]
"""done: by itself. cut: at its length limit. paused: it asks to be asked again. unusable: nothing
was said or called that could be worked with."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one answer; `input_tokens` without the cached ones, `output_tokens` with the thoughts."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0

    @property
    def total(self) -> int:
        """How much of the model's window the conversation takes now."""
        return sum(
            (self.input_tokens, self.output_tokens, self.cache_read_tokens, self.cache_write_tokens)
        )


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer. `reasoning` is what may be read of the thoughts before it; `reason` says why it stopped."""

    reply: Reply
    stop: Stop
    usage: Usage
    reasoning: str = ""
    reason: str = ""


class Declared(Protocol):
    """A tool, as a model is told of it."""

    @property
    def name(self) -> str: ...
    @property
    def description(self) -> str: ...
    @property
    def schema(self) -> Mapping[str, Any]: ...


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked. `author` is `provider:model`, `model` its second half."""

    author: str
    model: str
    system: str
    messages: Sequence[Message]
    tools: Sequence[Declared]
    max_tokens: int


@dataclass(frozen=True, slots=True)
class Request:
    """A POST: path behind the provider's base URL, JSON body, further headers."""

    path: str
    body: Mapping[str, Any]
    headers: Mapping[str, str] = field(default_factory=dict)


class Reader(Protocol):
    """Reads the events of one answer."""

    def feed(self, event: Mapping[str, Any]) -> None:
        """Take the next event. Raises: Trouble, when it says that something went wrong."""

    def answer(self) -> Answer | None:
        """The answer, once it is whole."""


class Dialect(Protocol):
    """One provider's protocol."""

    def request(self, question: Question) -> Request:
        """The request, for a streamed answer."""

    def reader(self, question: Question) -> Reader:
        """Reads the answer to it."""

    def kind(self, status: int, error: Mapping[str, Any]) -> Kind | None:
        """What an error is, where its status alone does not say: `error` is the one in its body."""


MODULES: Mapping[str, str] = {"anthropic": "Messages", "openai": "Responses", "google": "Gemini"}
"""The dialects by name: module and class."""


def load(name: str) -> Dialect:
    """The dialect of this name."""
    dialect: Dialect = getattr(import_module(f"native.dialects.{name}"), MODULES[name])()
    return dialect
