"""What a harness asks of the model, in no provider's words."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from orchestrator.stack.scripted.summaries import SoFar

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
"""A tool's, as all providers take it."""


class NotUnderstood(Exception):
    """The request is not one of the protocol's. The message says what is wrong with it."""


@dataclass(frozen=True, slots=True)
class Result:
    """What came back of one call.

    `is_error` is None where the protocol has no word for it. `session` is set while the process
    still runs: the text is what it has said so far.
    """

    text: str
    is_error: bool | None = False
    session: int | None = None


@dataclass(frozen=True, slots=True)
class ToolTurn:
    """One earlier answer with tool calls: the names called, and what came back, in the same order.

    A result that the request doesn't hold is None. `id` is that of the first call; it tells which
    turn this was, as a harness may have left out what was before (`ids`).
    """

    names: tuple[str, ...]
    results: tuple[Result | None, ...]
    id: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Prompt:
    """What was said to the model in words, and the answers with tool calls since.

    `so_far` is set where the words are a summary of what came before.
    """

    text: str
    turns: tuple[ToolTurn, ...] = ()
    so_far: SoFar | None = None


type Kind = Literal["function", "text", "search"]


@dataclass(frozen=True, slots=True)
class Form:
    """How a tool that is no plain function is called: by `name` within `namespace`.

    `text` takes free text in place of arguments; `search` looks further tools up.
    """

    name: str
    kind: Kind = "function"
    namespace: str | None = None


@dataclass(frozen=True, slots=True)
class Request:
    """One request. `size` is its length in characters; `prompts` has at least one.

    `forms` has the tools that are no plain functions. `wants_usage`: a streamed answer shall say
    what it used (everywhere but in one dialect it always does).
    """

    model: str
    stream: bool
    system: str
    prompts: tuple[Prompt, ...]
    tools: frozenset[str]
    size: int
    forms: Mapping[str, Form] = field(default_factory=dict)
    wants_usage: bool = True

    def __post_init__(self) -> None:
        """Raises: NotUnderstood, where providers refuse a tool's name."""
        for name in self.tools:
            own = self.forms[name].name if name in self.forms else name
            if not _NAME.fullmatch(own):
                raise NotUnderstood(f"tools: {own!r} is not 1 to 64 of A-Z, a-z, 0-9, _ and -")

    @property
    def prompt_number(self) -> int:
        """How many prompts there are so far, the newest included; summaries are none."""
        return sum(not prompt.so_far for prompt in self.prompts)
