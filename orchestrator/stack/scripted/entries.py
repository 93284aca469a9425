"""What may stand in a scenario file; docs/reference/scenario-file.md describes the same for people."""

import re
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    model_validator,
)

from orchestrator.stack.scripted import actions


def _as_tuple(value: Any) -> Any:
    if isinstance(value, str):
        return (value,)
    return tuple(value) if isinstance(value, list) else value


def _as_expect(value: Any) -> Any:
    return {"contains": value} if isinstance(value, str | list) else value


def _compiles(pattern: str) -> str:
    try:
        re.compile(pattern)
    except re.error as error:
        raise ValueError(f"{pattern!r} is not a regular expression: {error}") from error
    return pattern


Texts = Annotated[tuple[str, ...], BeforeValidator(_as_tuple)]
Pattern = Annotated[str, AfterValidator(_compiles)]
Name = Annotated[str, Field(pattern=r"^[A-Za-z_]\w*$")]
Seconds = Annotated[float, Field(ge=0, le=3600)]
Count = Annotated[int, Field(ge=0)]
type Mishap = Literal["cut", "stall", "garbage", "empty", "overflow"]
"""Failures that are no bare status: see `scenario.Fail`."""

LONGEST_PADDING = 64 << 20


class Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Expect(Entry):
    contains: Texts = ()
    lacks: Texts = ()
    matches: Pattern | None = None
    error: bool | Literal["any"] | None = None


class Usage(Entry):
    input_tokens: Count | None = None
    output_tokens: Count | None = None
    cache_read_tokens: Count = 0
    cache_write_tokens: Count = 0
    reasoning_tokens: Count = 0

    @model_validator(mode="after")
    def _reasoning_is_output(self) -> Self:
        if self.output_tokens is not None and self.reasoning_tokens > self.output_tokens:
            raise ValueError("has more reasoning_tokens than output_tokens, which include them")
        return self


class When(Entry):
    prompt_contains: Texts = ()
    prompt_lacks: Texts = ()
    prompt_matches: Pattern | None = None
    system_contains: Texts = ()
    earlier_contains: Texts = ()
    prompt_number: Annotated[int, Field(ge=1)] | None = None
    model: str | None = None


class ActionEntry(Entry):
    """One action with its own expectations; inside `parallel` nothing else may stand."""

    shell: str | None = None
    timeout_s: Annotated[int, Field(ge=1, le=3600)] | None = None
    read: str | None = None
    from_line: Annotated[int, Field(ge=1)] | None = None
    lines: Annotated[int, Field(ge=1)] | None = None
    write: str | None = None
    content: str = ""
    edit: str | None = None
    old: str = ""
    new: str = ""
    mcp: str | None = None
    arguments: dict[str, JsonValue] = {}
    server: str = "sandgate"
    undeclared: bool = False
    expect: Annotated[Expect, BeforeValidator(_as_expect)] | None = None
    capture: dict[Name, Pattern] = {}

    @property
    def action(self) -> str | None:
        """The key of its action, if it has one."""
        return actions.action_of(self.model_fields_set)

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        actions.check(self.model_fields_set)
        return self


class InParallel(ActionEntry):
    @model_validator(mode="after")
    def _is_an_action(self) -> Self:
        if self.action is None:
            raise ValueError("does nothing: parallel holds actions (shell, read, write, edit, mcp)")
        return self


class StepEntry(ActionEntry):
    say: str | None = None
    parallel: Annotated[tuple[InParallel, ...], BeforeValidator(_as_tuple)] = Field(
        default=(), min_length=1
    )
    fail: Annotated[int, Field(ge=400, le=599)] | Mishap | None = None
    retry_after_s: Seconds | None = None
    stall_s: Seconds | None = None
    times: Annotated[int, Field(ge=1)] | None = None
    message: str = "scripted failure"
    usage: Usage = Usage()
    delay_s: Seconds = 0.0
    stream_s: Seconds = 0.0
    padding: Annotated[int, Field(ge=1, le=LONGEST_PADDING)] = 0

    @model_validator(mode="after")
    def _failure_fits_together(self) -> Self:
        if "stall_s" in self.model_fields_set and self.fail != "stall":
            raise ValueError("has stall_s, which only fail: stall has a use for")
        stray = {"retry_after_s", "message"} & self.model_fields_set
        if stray and isinstance(self.fail, str):
            raise ValueError(f"has {', '.join(sorted(stray))}, which only a status can carry")
        return self


class ConversationEntry(Entry):
    name: Annotated[str, Field(min_length=1)]
    when: When = When()
    capture: dict[Name, Pattern] = {}
    steps: Annotated[tuple[StepEntry, ...], BeforeValidator(_as_tuple), Field(min_length=1)]


class ScenarioEntry(Entry):
    scenario: Literal[1]
    conversations: Annotated[
        tuple[ConversationEntry, ...], BeforeValidator(_as_tuple), Field(min_length=1)
    ]

    @model_validator(mode="after")
    def _names_are_unique(self) -> Self:
        names = [conversation.name for conversation in self.conversations]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise ValueError(f"two conversations are named {', '.join(twice)}")
        return self
