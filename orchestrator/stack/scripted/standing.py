"""Which conversation a request plays, and how far it has come: worked out from the request alone."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from orchestrator.stack.scripted import checking, ids, names, vocabulary
from orchestrator.stack.scripted.answers import Ends
from orchestrator.stack.scripted.entries import When
from orchestrator.stack.scripted.request import Request, ToolTurn
from orchestrator.stack.scripted.scenario import Conversation, Scenario, Turn


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a conversation is: its first `skipped` turns are no longer in the request."""

    conversation: Conversation
    skipped: int
    done: list[ToolTurn]
    values: dict[str, str]

    @property
    def turns(self) -> tuple[Turn, ...]:
        """The turns from the first of `done` on."""
        return self.conversation.turns[self.skipped :]


def standing_of(request: Request, scenario: Scenario) -> Standing:
    """Work out where a request is.

    Raises:
        Ends: no conversation fits, or what it needs isn't there.
    """
    if not request.prompts:
        raise Ends("there is nothing to sum up")
    newest = request.prompts[-1]
    done = vocabulary.steps(newest.turns)
    if newest.so_far is None:
        conversation = _chosen(request, scenario)
        skipped, values = 0, _captured(request, conversation)
    else:
        conversation = _named(newest.so_far.conversation, scenario)
        skipped, values = newest.so_far.done, dict(newest.so_far.names)
    if done and (number := ids.turn_of(done[0].id, conversation.name)) is not None:
        skipped = number
    for turn, tool_turn in zip(conversation.turns[skipped:], done, strict=False):
        values |= checking.captured(turn, tool_turn.results)
    return Standing(conversation, skipped, done, values)


def _named(name: str, scenario: Scenario) -> Conversation:
    found = next((one for one in scenario.conversations if one.name == name), None)
    if found is None:
        raise Ends(f"the summary is of conversation {name}, which the scenario doesn't have")
    return found


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
        and when.prompt_number in {None, request.prompt_number}
        and all(text in "\n".join(_earlier(request)) for text in when.earlier_contains)
        and when.model in {None, request.model}
    )


def _captured(request: Request, conversation: Conversation) -> dict[str, str]:
    """The names that are known from the prompt or the system text."""
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
    return values


def _earlier(request: Request) -> Iterator[str]:
    """What was said and what came back before the last prompt."""
    for prompt in request.prompts[:-1]:
        yield prompt.text
        for turn in prompt.turns:
            yield from (result.text for result in turn.results if result is not None)
