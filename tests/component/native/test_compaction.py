"""A conversation that gets long by the provider's own count, in every dialect."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.component.native.talking import conversation
from tests.fakes.door import Door, scenario

MODELS = ("anthropic:m", "openai:m", "google:m")
LONG = """
      - shell: seq 1 2000
        usage: {output_tokens: 30, input_tokens: 100}
      - shell: echo two
        usage: {output_tokens: 30, input_tokens: 800, reasoning_tokens: 20}
        expect: two
      - shell: echo three
        usage: {output_tokens: 30, input_tokens: 100}
        expect: three
      - mcp: submit_for_approval
"""
SUMMED_UP = """
scenario: 1
conversations:
  - name: summary
    when: {prompt_contains: Sum up the record}
    steps: [{say: "SUMMARY: one and two are done."}]
  - name: after
    when: {prompt_contains: [Fix it., "SUMMARY: one and two are done."]}
    steps:
      - shell: echo three
        expect: three
      - shell: echo four
        expect: four
        usage: {output_tokens: 30, input_tokens: 100}
      - mcp: submit_for_approval
  - name: before
    steps:
      - say: I begin.
        padding: 3000
        shell: echo one
        usage: {output_tokens: 30, input_tokens: 100}
      - say: I go on.
        padding: 3000
        shell: echo two
        usage: {output_tokens: 30, input_tokens: 200}
      - say: I go on.
        shell: echo three
        usage: {output_tokens: 30, input_tokens: 800, reasoning_tokens: 20}
"""


def kept(folder: Path) -> list[dict[str, Any]]:
    (path,) = (folder / "home/.sandgate/conversations").glob("*.jsonl")
    return [json.loads(line) for line in path.read_text().splitlines()[1:]]


@pytest.mark.parametrize("model", MODELS)
async def test_older_results_are_put_aside_where_they_can_be_read(
    tmp_path: Path, model: str
) -> None:
    said = await conversation(Door(scenario(LONG)), tmp_path, model, context_tokens=1000)
    assert said.reason == "submitted"
    (first, *_) = (message["results"]["results"] for message in kept(tmp_path)[2::2])
    pointer = first[0]["text"]
    assert pointer.startswith("[put aside to keep the conversation short: ")
    whole = Path(pointer.split(": ")[1].removesuffix("]")).read_text()
    assert whole.startswith("1\n2\n")
    assert whole.endswith("1999\n2000")


@pytest.mark.parametrize("model", MODELS)
async def test_older_turns_are_summed_up_by_the_model_and_work_goes_on(
    tmp_path: Path, model: str
) -> None:
    said = await conversation(Door(SUMMED_UP), tmp_path, model, context_tokens=1000)
    assert said.reason == "submitted", said
    assert [event["text"] for event in said.of("reasoning")] == [
        "The conversation became long; the older turns, summed up:\nSUMMARY: one and two are done."
    ]
    assert len(said.of("usage")) == 6
    assert [next(iter(message)) for message in kept(tmp_path)] == [
        *["prompt", "prompt"],
        *["reply", "results"] * 3,
    ]


@pytest.mark.parametrize("model", MODELS)
async def test_a_prompt_that_does_not_fit_is_summed_up_and_asked_once_more(
    tmp_path: Path, model: str
) -> None:
    steps = SUMMED_UP.replace(
        "{output_tokens: 30, input_tokens: 800, reasoning_tokens: 20}",
        "{output_tokens: 30, input_tokens: 300}",
    )
    steps += "      - fail: overflow\n      - say: never\n"
    said = await conversation(Door(steps), tmp_path, model)
    assert said.reason == "submitted", said
