"""What an engagement lets its agent do with tools, as its JSON says it, and back [pure].

A connection has a list of tools, or an object: `{"tools": {NAME: MODE or {...}}, "others": MODE,
"scope": {...}, "prompts": [...], "resources": [...], "asks": [...]}`.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

import orjson
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, model_validator

from entrance.mcp.constraints import compiled
from entrance.tool_policy import (
    Ask,
    BeyondTools,
    Bounds,
    ConnectionRules,
    Mode,
    Others,
    Scope,
    ToolRule,
)

Uri = Annotated[str, Field(pattern=r"^[^\x00-\x20\x7f*]*[^\x00-\x20\x7f]$", max_length=2048)]
"""A resource's, or with a `*` at its end what such begin with."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


class ToolForm(_Strict):
    """How one tool may be called."""

    mode: Mode = Mode.WRITE
    """`read`, `write`, `approval` or `forbidden`."""
    arguments: dict[str, Any] | None = None
    """A JSON Schema that the arguments have to fit; None: any."""
    beyond: Literal["deny", "hold"] = "deny"
    """What becomes of a call whose arguments don't fit."""
    two_people: bool = False
    """Whether two people have to allow a call that is held."""

    @model_validator(mode="after")
    def _can_be_used(self) -> Self:
        if self.arguments is not None:
            compiled(_text(self.arguments))
        return self

    def read(self) -> ToolRule:
        text = "" if self.arguments is None else _text(self.arguments)
        return ToolRule(self.mode, text, self.beyond, self.two_people)


class ScopeForm(_Strict):
    """What the calls of a connection may be about. None: anything."""

    projects: list[str] | None = None
    """Ids of projects."""
    types: list[str] | None = None
    """Types of work items, where a call names one."""
    repositories: list[str] | None = None
    """Repositories, as the tools name them."""
    queries: list[str] | None = None
    """Searches, word for word, where a call is one."""

    def read(self) -> Scope:
        given = self.model_dump()
        return Scope(**{n: None if v is None else frozenset(v) for n, v in given.items()})


class ConnectionForm(_Strict):
    """What may be done at one connection."""

    tools: dict[str, Mode | ToolForm] = Field(default={}, max_length=1000)
    """By a tool's name: a mode, or `{mode, arguments, beyond, two_people}`."""
    others: Literal["approval", "forbidden"] = "approval"
    """The mode of tools that are not named."""
    scope: ScopeForm = ScopeForm()
    """What the calls may be about: `{projects, types, repositories, queries}`."""
    prompts: list[str] = Field(default=[], max_length=1000)
    """The prompts that it may get."""
    resources: list[Uri] = Field(default=[], max_length=1000)
    """The URIs of resources that it may read; one that ends in `*`: all that begin with it."""
    asks: list[Ask] = []
    """What the server may ask back: `sampling`, `elicitation`, `roots`."""

    def read(self) -> ConnectionRules:
        """What it means."""
        others: Others = Mode.APPROVAL if self.others == "approval" else Mode.FORBIDDEN
        tools = {
            name: one.read() if isinstance(one, ToolForm) else ToolRule(one)
            for name, one in self.tools.items()
        }
        more = BeyondTools(frozenset(self.prompts), tuple(self.resources), frozenset(self.asks))
        return ConnectionRules(tools, others, self.scope.read(), more)


class PolicyForm(_Strict):
    """What a connection says itself, for all who use it (`toolPolicy`). None: nothing."""

    tools: dict[str, Mode] = {}
    """By a tool's name: a mode."""
    prompts: list[str] | None = None
    """The only prompts that anybody may get."""
    resources: list[Uri] | None = None
    """The only resources that anybody may read."""
    asks: list[Ask] | None = None
    """All that the server may ask anybody."""

    def read(self) -> tuple[Mapping[str, Mode], Bounds]:
        """What it means: of its tools, and of the rest."""
        return self.tools, Bounds(
            None if self.prompts is None else frozenset(self.prompts),
            None if self.resources is None else tuple(self.resources),
            None if self.asks is None else frozenset(self.asks),
        )


_POLICY: TypeAdapter[dict[str, Mode] | PolicyForm] = TypeAdapter(dict[str, Mode] | PolicyForm)


def connection_policy(text: str) -> tuple[Mapping[str, Mode], Bounds]:
    """What a connection's `toolPolicy` means: modes by tool, or an object. Raises: ValueError."""
    read = _POLICY.validate_json(text or "{}")
    return read.read() if isinstance(read, PolicyForm) else (read, Bounds())


def rules_json(rules: ConnectionRules) -> dict[str, Any]:
    """The reverse of `ConnectionForm.read`: what goes without saying is left out."""
    scope = {
        name: sorted(bound)
        for name in ("projects", "types", "repositories", "queries")
        if (bound := getattr(rules.scope, name)) is not None
    }
    tools = {name: _tool_json(rule) for name, rule in sorted(rules.tools.items())}
    said: dict[str, Any] = {"tools": tools, "others": str(rules.others)}
    more: dict[str, Any] = {
        "scope": scope,
        "prompts": sorted(rules.more.prompts),
        "resources": list(rules.more.resources),
        "asks": sorted(rules.more.asks),
    }
    return {**said, **{name: value for name, value in more.items() if value}}


def _tool_json(rule: ToolRule) -> str | dict[str, Any]:
    more: dict[str, Any] = {}
    if rule.arguments:
        more["arguments"] = orjson.loads(rule.arguments)
    if rule.beyond != "deny":
        more["beyond"] = rule.beyond
    if rule.two_people:
        more["two_people"] = True
    return {"mode": str(rule.mode), **more} if more else str(rule.mode)


def _text(schema: Mapping[str, Any]) -> str:
    return orjson.dumps(schema, option=orjson.OPT_SORT_KEYS).decode()
