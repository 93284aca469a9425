"""Scenario files: what loads, and what is said about one that doesn't."""

import re
import textwrap
from pathlib import Path
from typing import get_args

import pytest

from orchestrator.stack.scripted import ScenarioError, entries, load, parse
from orchestrator.stack.scripted.actions import ACTIONS

REFERENCE = Path(__file__).parents[5] / "docs/reference/scenario-file.md"


def scenario_text(steps: str) -> str:
    head = "scenario: 1\nconversations:\n  - name: a\n    steps:\n"
    return head + textwrap.indent(textwrap.dedent(steps), "      ")


def fault_of(text: str) -> str:
    with pytest.raises(ScenarioError) as caught:
        parse(text, source="f.yaml")
    return str(caught.value)


def test_the_example_of_the_reference_loads() -> None:
    example = re.search(r"```yaml\n(.*?)```", REFERENCE.read_text(), re.DOTALL)
    assert example is not None
    scenario = parse(example[1])
    assert [conversation.name for conversation in scenario.conversations] == [
        "feedback",
        "first run",
    ]
    assert [len(turn.calls) for turn in scenario.conversations[1].turns] == [1, 2, 1, 1, 1, 1, 0]


def test_the_reference_names_every_key_and_failure() -> None:
    models = (entries.StepEntry, entries.Expect, entries.When, entries.Usage)
    words = {name for model in models for name in model.model_fields}
    words |= {*ACTIONS, *get_args(entries.Mishap.__value__)}
    text = REFERENCE.read_text()
    assert {word for word in words if not re.search(rf"\b{word}\b", text)} == set()


@pytest.mark.parametrize(
    ("steps", "sentence"),
    [
        pytest.param(
            '- shell: "ls"\n  old: x', "line 5, conversation 1, step 1: has old", id="stray"
        ),
        pytest.param(
            "- say: x\n- edit: x\n  old: b", "line 6, conversation 1, step 2: lacks new", id="lacks"
        ),
        pytest.param(
            "- shell: x\n  mcp: z", "has shell and mcp: one action a step", id="two actions"
        ),
        pytest.param("- {}", "step 1: does nothing", id="nothing"),
        pytest.param(
            "- fail: 200", "fail: should be greater than or equal to 400", id="no failure"
        ),
        pytest.param(
            "- shell: x\n  expect: {matches: '('}", "'(' is not a regular expression", id="regex"
        ),
        pytest.param(
            "- say: x\n  say: y", "line 6, conversation 1, step 1, say: is there twice", id="twice"
        ),
        pytest.param("- parallel: []", "step 1, parallel: is empty", id="empty parallel"),
        pytest.param(
            "- parallel:\n    - say: hi",
            "parallel 1, say: is not a key that this place knows",
            id="say inside",
        ),
        pytest.param(
            "- expect: y", "step 1 expects something, but the step before it", id="expects nothing"
        ),
        pytest.param(
            "- say: x\n  expect: y", "only an action brings one", id="words bring nothing"
        ),
        pytest.param(
            '- shell: "{{y}}"', "{{y}}, which nothing before it captures", id="unknown name"
        ),
        pytest.param(
            '- say: "{{y}}"', "{{y}}, which nothing before it captures", id="unknown name said"
        ),
        pytest.param(
            "- shell: '{{y}}'\n  capture: {y: x}",
            "step 1 (shell, line 5) uses {{y}}",
            id="own capture",
        ),
        pytest.param(
            "- fail: cut\n  stall_s: 3", "has stall_s, which only fail: stall", id="stall_s"
        ),
        pytest.param(
            "- fail: empty\n  retry_after_s: 3",
            "has retry_after_s, which only a status can carry",
            id="retry_after_s",
        ),
        pytest.param("- fail: gone", "fail: should be 'cut', 'stall'", id="no such failure"),
        pytest.param(
            "- say: x\n  usage: {output_tokens: 1, reasoning_tokens: 2}",
            "usage: has more reasoning_tokens than output_tokens",
            id="reasoning",
        ),
        pytest.param("- shell: 3", "shell: should be a valid string", id="type"),
    ],
)
def test_a_fault_is_a_sentence_with_line_and_step(steps: str, sentence: str) -> None:
    assert sentence in fault_of(scenario_text(steps))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("a: [", "f.yaml: is not YAML"),
        ("", "should be keys with values"),
        ("scenario: 2\nconversations: []", "scenario: should be 1"),
        ("scenario: 1", "conversations: is missing"),
        ("scenario: 1\nconversations: []", "conversations: is empty"),
    ],
)
def test_a_file_that_is_no_scenario_says_so(text: str, sentence: str) -> None:
    assert sentence in fault_of(text)


def test_two_conversations_cannot_share_a_name() -> None:
    one = "\n  - name: a\n    steps: [{say: x}]"
    assert "two conversations are named a" in fault_of(f"scenario: 1\nconversations:{one}{one}")


def test_a_file_that_cannot_be_read_says_which(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match=r"missing\.yaml: can't be read"):
        load(tmp_path / "missing.yaml")


def test_words_failures_and_expectations_go_to_the_answer_they_belong_to() -> None:
    steps = """
    - say: first
    - fail: 429
      times: 1
    - say: then
      shell: ls
      delay_s: 1.5
    - expect: a
    - capture: {name: b}
    - say: bye {{name}}
    """
    first, last = parse(scenario_text(steps)).conversations[0].turns
    assert (first.say, first.delay_s) == ("first\nthen", 1.5)
    assert [fail.how for fail in first.fails] == [429]
    assert [expect.contains for expect in first.calls[0].expects] == [("a",)]
    assert first.calls[0].captures == {"name": "b"}
    assert (last.say, last.calls) == ("bye {{name}}", ())
