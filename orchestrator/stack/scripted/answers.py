"""One answer of the model: the turn of the scenario in the harness's own tools, with its tokens."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from orchestrator.stack.scripted import codex_script, ids, names, vocabulary
from orchestrator.stack.scripted.request import Request
from orchestrator.stack.scripted.scenario import Call, Turn
from orchestrator.stack.scripted.shapes import Arguments, Setting

_BYTES_PER_TOKEN = 4
_TITLE = "A scripted conversation"
_FILLING = " and so on"


@dataclass(frozen=True, slots=True)
class ToolCall:
    id: str
    name: str
    arguments: Arguments


@dataclass(frozen=True, slots=True)
class Tokens:
    """`input` is what was neither read from the cache nor written to it; `output` has the reasoning."""

    input: int
    output: int
    cache_read: int = 0
    cache_write: int = 0
    reasoning: int = 0

    @property
    def prompt(self) -> int:
        """All of the input, cached or not."""
        return self.input + self.cache_read + self.cache_write

    def broken_off(self, said_bytes: int) -> "Tokens":
        """What is billed when only so much was said: the prompt, the words, and the thoughts before them."""
        if said_bytes == 0:
            return replace(self, output=0, reasoning=0)
        return replace(self, output=min(self.output, self.reasoning + counted(said_bytes)))


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
    tokens = Tokens(counted(request.size), counted(len(text.encode())))
    return Answer(request.model, point, text, calls=(), tokens=tokens)


def poll(request: Request, sessions: list[int], point: str) -> Answer:
    """Ask for the rest of commands that still run.

    Raises:
        Ends: the harness declares no tool to ask with.
    """
    tool = next((name for name in vocabulary.POLLS if name in request.tools), None)
    if tool is None:
        raise Ends(f"a command still runs, and the harness can't be asked, but {_listed(request)}")
    calls = tuple(
        ToolCall(ids.call_of(point, number), tool, vocabulary.POLLS[tool](session))
        for number, session in enumerate(sessions)
    )
    return Answer(request.model, point, "", calls, _tokens(request, Turn(), "", calls))


def answer(
    request: Request,
    turn: Turn,
    values: Mapping[str, str],
    point: str,
    seen: Callable[[str], str | None],
) -> Answer:
    """Put a turn into the words and tools of the harness that asks. `seen`: see `Setting`.

    Raises:
        Ends: it has no tool for it, or a name is no longer known.
    """
    said = _said(turn, values)
    if turn.calls and not request.tools:
        return words(request, point, said or _TITLE)
    setting = Setting(vocabulary.workdir_in(request.system), seen)
    calls = tuple(
        _tool_call(call, request, values, ids.call_of(point, number), setting)
        for number, call in enumerate(turn.calls)
    )
    lookups = tuple(call for call in calls if call.name in vocabulary.LOOKUPS)
    if lookups:
        return Answer(request.model, point, "", lookups, _tokens(request, Turn(), "", lookups))
    return Answer(
        model=request.model,
        point=point,
        text=said,
        calls=calls,
        tokens=_tokens(request, turn, said, calls),
        delay_s=turn.delay_s,
        stream_s=turn.stream_s,
    )


def _said(turn: Turn, values: Mapping[str, str]) -> str:
    filling = _FILLING * (turn.padding // len(_FILLING) + 1)
    return f"{_filled(turn.say, values)}{filling[: turn.padding]}"


def counted(size_bytes: int) -> int:
    """A plausible number of tokens, never 0."""
    return max(1, -(-size_bytes // _BYTES_PER_TOKEN))


def _tool_call(
    call: Call, request: Request, values: Mapping[str, str], id_: str, setting: Setting
) -> ToolCall:
    fields = call.entry.model_dump(exclude={"expect", "capture"}, exclude_unset=True)
    entry = call.entry.model_copy(update=_filled(fields, values))
    if call.kind == "mcp":
        return ToolCall(id_, *_gateway_call(call, entry.arguments, request))
    own = vocabulary.own_call(call.kind, entry, request.tools, setting)
    if own is None:
        raise Ends(f"{call.place}: the harness declares no tool for it, but {_listed(request)}")
    return ToolCall(id_, *own)


def _gateway_call(
    call: Call, arguments: Mapping[str, Any], request: Request
) -> tuple[str, Arguments]:
    name = vocabulary.gateway_tool(call.entry, request.tools)
    if name is not None:
        return name, arguments
    server, tool = call.entry.server, call.entry.mcp or ""
    wanted = f"mcp__{server}__{tool}"
    if codex_script.EXEC in request.tools:
        return codex_script.EXEC, codex_script.call(wanted, arguments)
    looked_up = any(vocabulary.is_lookup(turn) for turn in request.prompts[-1].turns[-1:])
    lookup = next((name for name in vocabulary.LOOKUPS if name in request.tools), None)
    if lookup is not None and not looked_up:
        return lookup, vocabulary.LOOKUPS[lookup](server, tool)
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
    written = len(text.encode()) + sum(map(_size, calls))
    output = counted(written) + given.reasoning_tokens
    return Tokens(
        input=counted(request.size) if given.input_tokens is None else given.input_tokens,
        output=output if given.output_tokens is None else given.output_tokens,
        cache_read=given.cache_read_tokens,
        cache_write=given.cache_write_tokens,
        reasoning=given.reasoning_tokens,
    )


def _size(call: ToolCall) -> int:
    told = call.arguments
    return len((told if isinstance(told, str) else json.dumps(told)).encode())
