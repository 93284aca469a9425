"""Who works in the demo."""

import pytest

from entrance.model.prices import shipped_prices
from orchestrator.cli.codes import CommandFailed
from orchestrator.cli.demo_cast import USUAL, Cast, cast_of
from orchestrator.harnesses import HARNESSES
from orchestrator.stack.harness_programs import NAMES

PRICES = shipped_prices()


def test_every_harness_has_a_usual_model_that_it_can_talk_to() -> None:
    assert set(USUAL) == set(HARNESSES) == set(NAMES)
    casts = [cast_of(harness, "", PRICES) for harness in NAMES]
    assert len({cast.agent for cast in casts}) == len(NAMES)


@pytest.mark.parametrize(
    ("harness", "model", "agent"),
    [
        ("native", "", "rex"),
        ("native", "anthropic:claude-sonnet-5", "rex"),
        ("native", "openai:gpt-5.5", "rex-native-gpt-5.5"),
        ("claude_code", "", "rex-claude-code"),
        ("claude_code", "anthropic:claude-haiku-4-5", "rex-claude-code-claude-haiku-4-5"),
        ("codex", "openai:gpt-5.5", "rex-codex-gpt-5.5"),
    ],
)
def test_each_harness_and_model_has_an_agent_of_its_own(
    harness: str, model: str, agent: str
) -> None:
    assert cast_of(harness, model, PRICES) == Cast(harness, model or USUAL[harness], agent)


@pytest.mark.parametrize(
    ("harness", "model", "says"),
    [
        ("codex", "anthropic:claude-sonnet-5", "codex takes openai:NAME"),
        ("claude_code", "openai:gpt-5.5", "claude-code takes anthropic:NAME"),
        ("native", "mistral:large", "native takes anthropic:NAME or openai:NAME or google:NAME"),
        ("native", "openai:", "native takes"),
        ("native", "gpt-5.5", "native takes"),
        ("native", "openai:gpt-0", "has no price, so no run may use it; there is openai:gpt-5.4,"),
    ],
)
def test_a_model_that_the_harness_can_not_work_with_is_refused(
    harness: str, model: str, says: str
) -> None:
    with pytest.raises(CommandFailed, match=says):
        cast_of(harness, model, PRICES)
