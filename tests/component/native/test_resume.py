"""A later run goes on with the conversation of an earlier one, whichever model it had."""

import itertools
from pathlib import Path

import pytest

from tests.component.native.talking import conversation
from tests.fakes.door import Door, status

MODELS = ("anthropic:m", "openai:m", "google:m")
TWICE = """
scenario: 1
conversations:
  - name: first
    when: {prompt_number: 1}
    steps:
      - say: I look.
        shell: echo one
        expect: one
        usage: {reasoning_tokens: 20}
      - mcp: submit_for_approval
  - name: sent back
    when: {prompt_number: 2, prompt_contains: use spaces}
    steps:
      - shell: echo two
        expect: two
      - mcp: submit_for_approval
"""


@pytest.mark.parametrize(("first", "second"), list(itertools.product(MODELS, MODELS)))
async def test_the_second_run_knows_the_first(tmp_path: Path, first: str, second: str) -> None:
    """Another provider's thoughts and signatures are left out, words and calls are not."""
    door = Door(TWICE)
    one = await conversation(door, tmp_path, first)
    two = await conversation(
        door, tmp_path, second, resume=one.conversation, prompt="Sent back: use spaces."
    )
    assert (one.reason, two.reason) == ("submitted", "submitted"), two
    assert two.conversation == one.conversation
    assert len(two.of("tool_call")) == 2


@pytest.mark.parametrize("model", MODELS)
async def test_a_run_that_failed_in_the_middle_is_gone_on_with(tmp_path: Path, model: str) -> None:
    door = Door(TWICE, faults={"/model": [status(403, "over budget")]})
    one = await conversation(door, tmp_path, model)
    assert one.reason == "error"
    two = await conversation(door, tmp_path, model, resume=one.conversation, prompt="Go on.")
    assert two.reason == "submitted"
