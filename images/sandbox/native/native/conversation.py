"""A conversation in no provider's words: what was said, called, and came back [pure]."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

Origin = Literal["person", "loop", "summary"]
"""Who a prompt is from: only a person's is never left out."""


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call. `input` is an object; a text, where the model wrote something that is none."""

    id: str
    name: str
    input: Any


@dataclass(frozen=True, slots=True)
class Result:
    """What came back of the call with the id `call`."""

    call: str
    name: str
    text: str
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class Prompt:
    """Words to the model."""

    text: str
    origin: Origin = "person"


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer of the model.

    `items` is the same as its `author` (`provider:model`) gave it, with what only the author can
    read: sealed thoughts, signatures. To the same author it goes back as it came.
    """

    text: str
    calls: tuple[Call, ...] = ()
    author: str = ""
    items: tuple[Any, ...] = ()

    def items_for(self, model: str) -> tuple[Any, ...] | None:
        """What goes back as it came; None to another model, which gets text and calls."""
        return self.items if model == self.author else None

    @property
    def is_empty(self) -> bool:
        """Is there nothing in it that could be sent back?"""
        return not (self.text or self.calls or self.items)


@dataclass(frozen=True, slots=True)
class Results:
    """The results of all calls of the reply before, in order."""

    results: tuple[Result, ...]


Message = Prompt | Reply | Results

_LOST = (
    "Not known: the run ended before the result came."
    " It may have happened: look before you repeat it."
)


def repaired(messages: Sequence[Message]) -> list[Message]:
    """The conversation with a result for each call: without one no provider takes it."""
    last = messages[-1] if messages else None
    if not isinstance(last, Reply) or not last.calls:
        return list(messages)
    lost = (Result(call.id, call.name, _LOST, is_error=True) for call in last.calls)
    return [*messages, Results(tuple(lost))]


def size(messages: Sequence[Message]) -> int:
    """Characters of a conversation, about as it is sent."""
    return sum(len(json.dumps(_sent(message))) for message in messages)


def _sent(message: Message) -> Any:
    if isinstance(message, Reply) and message.items:
        return message.items
    return asdict(message)


def as_json(message: Message) -> dict[str, Any]:
    """A message as a JSON object with one key, its kind."""
    return {type(message).__name__.lower(): asdict(message)}


def from_json(value: Any) -> Message:
    """The message that `as_json` made this of.

    Raises:
        ValueError: it is none.
    """
    try:
        ((kind, data),) = value.items()
        message: Message = _READERS[kind](data)
    except (AttributeError, KeyError, TypeError) as error:
        raise ValueError(f"no message: {error!r}") from error
    return message


def _reply(data: Mapping[str, Any]) -> Reply:
    calls = tuple(Call(**call) for call in data["calls"])
    return Reply(**{**data, "calls": calls, "items": tuple(data["items"])})


def _results(data: Mapping[str, Any]) -> Results:
    return Results(tuple(Result(**result) for result in data["results"]))


_READERS: Mapping[str, Any] = {
    "prompt": lambda data: Prompt(**data),
    "reply": _reply,
    "results": _results,
}
