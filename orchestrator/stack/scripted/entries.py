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


class When(Entry):
    prompt_contains: Texts = ()
    prompt_lacks: Texts = ()
    prompt_matches: Pattern | None = None
    system_contains: Texts = ()
    prompt_number: Annotated[int, Field(ge=1)] | None = None
    model: str | None = None


class Beside(Entry):
    """An action's own key and what may and must stand beside it."""

    may: frozenset[str] = frozenset()
    must: frozenset[str] = frozenset()


ACTIONS = {
    "shell": Beside(may=frozenset({"timeout_s"})),
    "read": Beside(may=frozenset({"from_line", "lines"})),
    "write": Beside(must=frozenset({"content"})),
    "edit": Beside(must=frozenset({"old", "new"})),
    "mcp": Beside(may=frozenset({"arguments", "server", "undeclared"})),
    "parallel": Beside(),
    "fail": Beside(may=frozenset({"retry_after_s", "times", "message"})),
}
"""Every action, by the key that names it."""

_TALK = frozenset({"say", "expect", "capture"})
_PACE = frozenset({"usage", "delay_s", "stream_s"})
_NO_RESULT = {"fail": _TALK | _PACE, "parallel": _TALK - {"say"}}


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
        return next((key for key in ACTIONS if key in self.model_fields_set), None)

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        found = [key for key in ACTIONS if key in self.model_fields_set]
        if len(found) > 1:
            raise ValueError(
                f"has {' and '.join(found)}: one action a step; use parallel for several"
            )
        if not found:
            self._check_words_alone()
        else:
            self._check_beside(found[0])
        return self

    def _check_words_alone(self) -> None:
        if stray := self.model_fields_set - _TALK - _PACE:
            raise ValueError(f"has {', '.join(sorted(stray))} but no action ({', '.join(ACTIONS)})")
        if not self.model_fields_set & _TALK:
            raise ValueError(f"does nothing: give it say or an action ({', '.join(ACTIONS)})")
        if "say" in self.model_fields_set and self.model_fields_set & {"expect", "capture"}:
            raise ValueError("says something and expects an answer: only an action brings one")

    def _check_beside(self, action: str) -> None:
        rule = ACTIONS[action]
        allowed = rule.may | rule.must | {action} | _TALK | _PACE
        forbidden = _NO_RESULT.get(action, frozenset()) & self.model_fields_set
        if stray := (self.model_fields_set - allowed) | forbidden:
            raise ValueError(f"has {', '.join(sorted(stray))}, which can't stand beside {action}")
        if missing := rule.must - self.model_fields_set:
            raise ValueError(f"lacks {', '.join(sorted(missing))}, which {action} needs")


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
    fail: Annotated[int, Field(ge=400, le=599)] | Literal["cut"] | None = None
    retry_after_s: Seconds | None = None
    times: Annotated[int, Field(ge=1)] | None = None
    message: str = "scripted failure"
    usage: Usage = Usage()
    delay_s: Seconds = 0.0
    stream_s: Seconds = 0.0


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
