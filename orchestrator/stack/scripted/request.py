"""What a harness asks of the model, in no provider's words."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Result:
    """What came back of one call."""

    text: str
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class ToolTurn:
    """One earlier answer with tool calls: the names called, and what came back, in the same order.

    A result that the request doesn't hold is None.
    """

    names: tuple[str, ...]
    results: tuple[Result | None, ...]


@dataclass(frozen=True, slots=True)
class Prompt:
    """What was said to the model in words, and the answers with tool calls since."""

    text: str
    turns: tuple[ToolTurn, ...] = ()


@dataclass(frozen=True, slots=True)
class Request:
    """One request. `size` is its length in characters; `prompts` has at least one."""

    model: str
    stream: bool
    system: str
    prompts: tuple[Prompt, ...]
    tools: frozenset[str]
    size: int


class NotUnderstood(Exception):
    """The request is not one of the protocol's. The message says what is wrong with it."""
