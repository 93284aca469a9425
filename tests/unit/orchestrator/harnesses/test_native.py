import json
from typing import Any

import pytest

from orchestrator.harnesses.native import Native
from orchestrator.ports import Assignment


def option(name: str, **given: Any) -> str | None:
    """What the loop is started with."""
    assignment = Assignment("house:m", "Be kind.", "Fix it.", "http://door", "sgr_x", **given)
    argv = list(Native().start(assignment).argv)
    return argv[argv.index(name) + 1] if name in argv else None


def test_the_model_is_named_whole_and_what_its_provider_speaks() -> None:
    assert option("--model") == "house:m"
    assert option("--dialect", dialect="openai") == "openai"
    assert option("--dialect") is None


def test_a_conversation_is_gone_on_with_by_its_id() -> None:
    assert option("--resume", resume="c-1") == "c-1"
    assert option("--resume") is None
    kept = Native().kept_at("c-1", "/workspace/thing")
    assert kept == "/home/agent/.sandgate/conversations/c-1.jsonl"


def test_the_token_is_in_the_environment_alone() -> None:
    assignment = Assignment("a:m", "s", "p", "http://door", "sgr_secret", env={"X": "y"})
    start = Native().start(assignment)
    assert start.env == {
        "SANDGATE_ENTRANCE": "http://door",
        "SANDGATE_RUN_TOKEN": "sgr_secret",
        "X": "y",
    }
    assert "sgr_secret" not in f"{start.argv} {start.files}"


def test_a_line_is_an_event() -> None:
    line = json.dumps({"type": "text", "text": "hi"})
    assert Native().read(line) == ("text", {"text": "hi"})


DEEP = '{"type": "tool_call", "input":' + "[" * 300 + "]" * 300 + "}"
"""Nobody behind us could write this out again."""


@pytest.mark.parametrize(
    "line", ["", "{", "[1]", '{"type": 3}', '{"text": "x"}', "\ufffd", '{"type": ""}', DEEP]
)
def test_what_is_no_event_is_kept_as_it_is(line: str) -> None:
    assert Native().read(line) == ("raw", {"text": line})
