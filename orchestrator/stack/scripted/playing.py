"""Request and scenario to what is answered. Nothing is remembered: the request holds all there is.

`play` finds the conversation by its prompt, counts the answers with tool calls since that prompt,
checks what came back of the last one, and makes the next. Whatever is wrong ends the conversation
with words that begin with `scripted model:`.
"""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from orchestrator.stack.scripted import answers, checking, knowledge, names, vocabulary
from orchestrator.stack.scripted.answers import Answer, Ends
from orchestrator.stack.scripted.entries import When
from orchestrator.stack.scripted.request import Request, ToolTurn
from orchestrator.stack.scripted.scenario import Conversation, Fail, Scenario, Turn


@dataclass(frozen=True, slots=True)
class Move:
    """What to do with a request: the first of `fails` that still has times left, else the answer.

    `where` is for the log; `mismatch` says what went wrong, if something did.
    """

    answer: Answer
    where: str
    fails: tuple[Fail, ...] = ()
    mismatch: str | None = None


def play(request: Request, scenario: Scenario) -> Move:
    """Say what to answer to `request`."""
    point = _point(request)
    where = "no conversation"
    try:
        conversation = _chosen(request, scenario)
        where = f"conversation {conversation.name}"
        done = vocabulary.steps(request.prompts[-1].turns)
        if done and (sessions := _still_running(done[-1])):
            return Move(answers.poll(request, sessions, point), f"{where}, a command still runs")
        values = _values(request, conversation, done)
        turn = _next(conversation, done, values)
        where = str(turn.calls[0].place) if turn.calls else f"{where}, its end"
        seen = partial(knowledge.text_of, turns=conversation.turns, done=tuple(done), values=values)
        return Move(answers.answer(request, turn, values, point, seen), where, turn.fails)
    except Ends as ends:
        said = answers.words(request, point, f"scripted model: {ends}")
        return Move(said, where, mismatch=str(ends))


def _chosen(request: Request, scenario: Scenario) -> Conversation:
    for conversation in scenario.conversations:
        if fits(conversation.when, request):
            return conversation
    tried = ", ".join(conversation.name for conversation in scenario.conversations)
    prompt = checking.shortened(request.prompts[-1].text)
    raise Ends(f"no conversation of the scenario ({tried}) fits the prompt {prompt!r}")


def fits(when: When, request: Request) -> bool:
    """Do all conditions hold for the request's last prompt?"""
    prompt = request.prompts[-1].text
    return (
        all(text in prompt for text in when.prompt_contains)
        and not any(text in prompt for text in when.prompt_lacks)
        and (
            when.prompt_matches is None
            or bool(re.search(when.prompt_matches, prompt, re.MULTILINE))
        )
        and all(text in request.system for text in when.system_contains)
        and when.prompt_number in {None, len(request.prompts)}
        and when.model in {None, request.model}
    )


def _values(request: Request, conversation: Conversation, done: list[ToolTurn]) -> dict[str, str]:
    """The names known by now: from the prompt or the system text, then from the results in order."""
    prompt = request.prompts[-1].text
    values: dict[str, str] = {}
    for name, pattern in conversation.captures.items():
        found = names.take(pattern, prompt)
        value = names.take(pattern, request.system) if found is None else found
        if value is None:
            raise Ends(
                f"conversation {conversation.name}: {pattern!r} for {name} matches neither the prompt"
                f" {checking.shortened(prompt)!r} nor the system instructions"
            )
        values[name] = value
    for turn, tool_turn in zip(conversation.turns, done, strict=False):
        values |= checking.captured(turn, tool_turn.results)
    return values


def _still_running(turn: ToolTurn) -> list[int]:
    sessions = (result.session for result in turn.results if result is not None)
    return [session for session in sessions if session is not None]


def _next(conversation: Conversation, done: list[ToolTurn], values: Mapping[str, str]) -> Turn:
    """The turn after those done, if what came back of the last one is as expected."""
    if len(done) >= len(conversation.turns):
        raise Ends(f"conversation {conversation.name} is over, but the harness asks on")
    if done:
        _check(conversation.turns[len(done) - 1], done[-1], values)
    return conversation.turns[len(done)]


def _check(turn: Turn, tool_turn: ToolTurn, values: Mapping[str, str]) -> None:
    missing = len(turn.calls) - len(tool_turn.results)
    results = (*tool_turn.results, *[None] * missing)
    for call, result in zip(turn.calls, results, strict=False):
        try:
            difference = checking.difference(call, result, values)
        except KeyError as name:
            raise Ends(f"{call.place}: {name} is no longer in the request's results") from name
        if difference is not None:
            raise Ends(f"{call.place}: {difference}")


def _point(request: Request) -> str:
    """A name for this place of this conversation: the same for a repeated request."""
    return hashlib.sha256(repr((request.system, request.prompts)).encode()).hexdigest()[:20]
