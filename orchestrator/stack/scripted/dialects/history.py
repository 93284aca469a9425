"""What was said and called, in order, to prompts: the same rules for every protocol."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from orchestrator.stack.scripted import summaries
from orchestrator.stack.scripted.request import Prompt, Result, ToolTurn


@dataclass(frozen=True, slots=True)
class Said:
    """Words of the user; empty ones don't count."""

    text: str


@dataclass(frozen=True, slots=True)
class Call:
    id: str
    name: str


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer of the model, with or without calls."""

    calls: tuple[Call, ...] = ()


def prompts(events: Iterable[Said | Answered], results: Mapping[str, Result]) -> tuple[Prompt, ...]:
    """Words of the user start a prompt, unless they only go on with the one just begun.

    A summary of an earlier part is a prompt of its own: neither goes on with the other.
    Raises:
        ValueError: the user said nothing.
    """
    found: list[Prompt] = []
    answered = True
    for event in events:
        match event:
            case Answered(calls):
                answered = True
                if calls and found:
                    turns = (*found[-1].turns, _tool_turn(calls, results))
                    found[-1] = replace(found[-1], turns=turns)
            case Said(text) if text:
                so_far = summaries.found(text)
                if answered or so_far or found[-1].so_far:
                    found.append(Prompt(text, so_far=so_far))
                else:
                    found[-1] = replace(found[-1], text=f"{found[-1].text}\n{text}")
                answered = False
            case Said():
                pass
    if not found:
        raise ValueError("no message of the user with text")
    return tuple(found)


def _tool_turn(calls: tuple[Call, ...], results: Mapping[str, Result]) -> ToolTurn:
    return ToolTurn(
        names=tuple(call.name for call in calls),
        results=tuple(results.get(call.id) for call in calls),
        id=calls[0].id,
    )
