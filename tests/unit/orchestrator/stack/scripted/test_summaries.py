"""A conversation that was shortened goes on where it was."""

from dataclasses import replace

import pytest

from orchestrator.stack.scripted import parse, summaries
from orchestrator.stack.scripted.playing import Move, play
from orchestrator.stack.scripted.request import Prompt, Request, Result, ToolTurn
from orchestrator.stack.scripted.summaries import SoFar
from tests.unit.orchestrator.stack.scripted.test_playing import calls_of, came_back, request_of

ASKS = {
    "Claude Code": "CRITICAL: Respond with TEXT ONLY.\n\nYour task is to create a detailed summary of the"
    " conversation so far, paying close attention to it.",
    "Codex": "You are performing a CONTEXT CHECKPOINT COMPACTION. Create a handoff summary.",
}
SCENARIO = parse(
    """
scenario: 1
conversations:
  - name: other
    when: {prompt_contains: "sent back"}
    steps: [{shell: other}]
  - name: the "work"
    capture: {item: '(T-\\d+)'}
    steps:
      - shell: one
        expect: fine
        capture: {sha: 'at (\\w+)'}
      - shell: two
      - shell: three {{item}} {{sha}}
"""
)
DONE = (came_back("fine, at abc1"), came_back("ok"))
TASK = Prompt("do T-7", DONE)


def asked(*prompts: Prompt) -> Request:
    return replace(request_of(), prompts=prompts)


def summary_of(move: Move) -> Prompt:
    """The words as a harness hands them on."""
    text = f"This session is being continued.\n{move.answer.text}\n\nGo on."
    return Prompt(text, so_far=summaries.found(text))


@pytest.mark.parametrize("words", ASKS.values(), ids=ASKS)
def test_a_conversation_that_was_summed_up_goes_on_with_the_next_step(words: str) -> None:
    move = play(asked(TASK, Prompt(words)), SCENARIO)
    assert (move.answer.calls, move.mismatch, move.conversation) == ((), None, 'the "work"')
    after = summary_of(move)
    assert after.so_far == SoFar('the "work"', 2, {"item": "T-7", "sha": "abc1"})
    assert calls_of(play(asked(after), SCENARIO)) == [("bash", {"command": "three T-7 abc1"})]
    assert play(asked(replace(after, turns=(came_back(),))), SCENARIO).answer.text == "Done."


def test_it_may_be_summed_up_again() -> None:
    first = summary_of(play(asked(Prompt("do T-7", DONE[:1]), Prompt(ASKS["Codex"])), SCENARIO))
    again = play(asked(replace(first, turns=DONE[1:]), Prompt(ASKS["Codex"])), SCENARIO)
    so_far = summary_of(again).so_far
    assert so_far is not None
    assert (so_far.done, so_far.names["sha"]) == (2, "abc1")


def test_words_after_a_summary_begin_a_conversation_of_their_own() -> None:
    after = summary_of(play(asked(TASK, Prompt(ASKS["Codex"])), SCENARIO))
    move = play(asked(after, Prompt("sent back")), SCENARIO)
    assert calls_of(move) == [("bash", {"command": "other"})]


def test_what_was_not_as_expected_is_said_in_place_of_a_summary() -> None:
    wrong = Prompt("do T-7", (ToolTurn(("bash",), (Result("bad"),)),))
    move = play(asked(wrong, Prompt(ASKS["Codex"])), SCENARIO)
    assert "expected the text 'fine', got the result 'bad'" in move.answer.text
    assert summaries.found(move.answer.text) is None
    alone = play(asked(Prompt(ASKS["Codex"])), SCENARIO)
    assert alone.answer.text == "scripted model: there is nothing to sum up"


def test_a_summary_of_another_scenario_is_told_apart() -> None:
    text = summaries.written(SoFar("gone", 1, {}))
    move = play(asked(Prompt(text, so_far=summaries.found(text))), SCENARIO)
    assert "of conversation gone, which the scenario doesn't have" in move.answer.text


@pytest.mark.parametrize("text", ["", "scripted model: so far {", "scripted model: so far {}"])
def test_what_is_no_summary_is_none(text: str) -> None:
    assert summaries.found(text) is None
