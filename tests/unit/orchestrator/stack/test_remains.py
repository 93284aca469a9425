"""What lies outside an installation's home, when the engine goes away in the middle."""

from types import SimpleNamespace
from typing import Any, Never

import pytest

from orchestrator.stack.remains import InEngine
from orchestrator.stack.steps import StepFailed


def gone_away(**_: object) -> Never:
    raise TimeoutError("the engine did not answer in time")


def test_an_engine_that_answers_no_more_is_one_sentence_like_any_other_trouble() -> None:
    """docker-py lets the connection's own errors through."""
    client: Any = SimpleNamespace(containers=SimpleNamespace(list=gone_away))
    here: Any = SimpleNamespace(name="sg")
    with pytest.raises(StepFailed, match="not everything of sg"):
        list(InEngine(client, here).containers())
