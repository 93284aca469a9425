"""One answer of the model: the turn of the scenario in the harness's own tools, with its tokens."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from orchestrator.stack.scripted import names, vocabulary
from orchestrator.stack.scripted.request import Request
from orchestrator.stack.scripted.scenario import Call, Turn

_CHARACTERS_PER_TOKEN = 4
_TITLE = "A scripted conversation"


@dataclass(frozen=True, slots=True)
class ToolCall:
    id: str
    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Tokens:
    input: int
    output: int
    cache_read: int = 0
    cache_write: int = 0


@dataclass(frozen=True, slots=True)
class Answer:
    """What the model says and calls. `point` names this place of this conversation, for ids."""

    model: str
    point: str
    text: str
    calls: tuple[ToolCall, ...]
    tokens: Tokens
    delay_s: float = 0.0
    stream_s: float = 0.0


class Ends(Exception):
    """The conversation can't go on; the message says why."""


def words(request: Request, point: str, text: str) -> Answer:
    """An answer of words alone."""
    tokens = Tokens(counted(request.size), counted(len(text)))
    return Answer(request.model, point, text, calls=(), tokens=tokens)


def answer(request: Request, turn: Turn, values: Mapping[str, str], point: str) -> Answer:
    """Put a turn into the words and tools of the harness that asks.

    Raises:
        Ends: it has no tool for it, or a name is no longer known.
    """
    if turn.calls and not request.tools:
        return words(request, point, _filled(turn.say, values) or _TITLE)
    calls = tuple(
        _tool_call(call, request, values, f"{point}{number:02d}")
        for number, call in enumerate(turn.calls)
    )
    lookups = tuple(call for call in calls if call.name == vocabulary.LOOKUP)
    text = "" if lookups else _filled(turn.say, values)
    return Answer(
        model=request.model,
        point=point,
        text=text,
        calls=lookups or calls,
        tokens=_tokens(request, turn, text, lookups or calls),
        delay_s=turn.delay_s,
        stream_s=turn.stream_s,
    )


def counted(characters: int) -> int:
    """A plausible number of tokens, never 0."""
    return max(1, characters // _CHARACTERS_PER_TOKEN)


def _tool_call(call: Call, request: Request, values: Mapping[str, str], id_: str) -> ToolCall:
    fields = call.entry.model_dump(exclude={"expect", "capture"}, exclude_unset=True)
    entry = call.entry.model_copy(update=_filled(fields, values))
    if call.kind == "mcp":
        return ToolCall(id_, *_gateway_call(call, entry.arguments, request))
    own = vocabulary.own_tool(call.kind, request.tools)
    if own is None:
        raise Ends(f"{call.place}: the harness declares no tool for it, but {_listed(request)}")
    name, shape = own
    return ToolCall(id_, name, shape(entry, vocabulary.workdir_in(request.system)))


def _gateway_call(
    call: Call, arguments: Mapping[str, Any], request: Request
) -> tuple[str, Mapping[str, Any]]:
    name = vocabulary.gateway_tool(call.entry, request.tools)
    if name is not None:
        return name, arguments
    wanted = f"mcp__{call.entry.server}__{call.entry.mcp}"
    looked_up = any(vocabulary.is_lookup(turn) for turn in request.prompts[-1].turns[-1:])
    if vocabulary.LOOKUP in request.tools and not looked_up:
        return vocabulary.LOOKUP, {"query": f"select:{wanted}"}
    raise Ends(f"{call.place}: the harness offers no tool {wanted}, but {_listed(request)}")


def _filled(value: Any, values: Mapping[str, str]) -> Any:
    try:
        return names.fill_all(value, values)
    except KeyError as missing:
        raise Ends(
            f"{missing} was captured from a result that the request no longer holds"
        ) from missing


def _listed(request: Request) -> str:
    return ", ".join(sorted(request.tools))


def _tokens(request: Request, turn: Turn, text: str, calls: tuple[ToolCall, ...]) -> Tokens:
    given = turn.usage
    written = len(text) + sum(len(json.dumps(call.arguments)) for call in calls)
    return Tokens(
        input=counted(request.size) if given.input_tokens is None else given.input_tokens,
        output=counted(written) if given.output_tokens is None else given.output_tokens,
        cache_read=given.cache_read_tokens,
        cache_write=given.cache_write_tokens,
    )
