"""What a Chat Completions request may not ask of the provider."""

from typing import Any

import pytest

from entrance.model.dialects.chat_rules import troubles

DATA = "data:image/png;base64,AA=="
PLAIN: dict[str, Any] = {
    "model": "m",
    "messages": [
        {"role": "developer", "content": "x"},
        {"role": "user", "content": [
            {"type": "text", "text": "x"},
            {"type": "image_url", "image_url": {"url": DATA, "detail": "low"}},
            {"type": "file", "file": {"filename": "x.pdf", "file_data": "data:application/pdf;base64,AA"}},
        ]},
        {"role": "assistant", "content": None, "audio": None, "tool_calls": [
            {"id": "c", "type": "function",
             "function": {"name": "f", "arguments": '{"file_id": "x"}'}},
        ]},
        {"role": "tool", "tool_call_id": "c", "content": [{"type": "text", "text": "x"}]},
    ],
    "tools": [
        {"type": "function", "function": {"name": "f", "parameters": {}}},
        {"type": "custom", "custom": {"name": "c"}},
    ],
    "tool_choice": "auto",
    "max_completion_tokens": 100,
    "reasoning_effort": "low",
    "response_format": {"type": "text"},
    "stream": True,
    "stream_options": {"include_usage": True},
    "n": 1,
    "modalities": ["text"],
    "temperature": 1,
    "seed": 0,
}  # fmt: skip


def said(**changes: Any) -> str:
    return "; ".join(troubles(PLAIN | changes))


def content(piece: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"role": "user", "content": [piece]}]


def test_what_a_client_sends_is_let_through() -> None:
    assert said() == ""


@pytest.mark.parametrize(
    ("key", "value"),
    [
        pytest.param("web_search_options", {"search_context_size": "low"}, id="a search"),
        pytest.param("n", 2, id="two answers for one price"),
        pytest.param("n", True, id="no number"),
        pytest.param("modalities", ["text", "audio"], id="sound"),
        pytest.param("audio", {"voice": "x"}, id="a voice"),
        pytest.param("prediction", {"type": "content", "content": "x"}, id="guesses, billed"),
        pytest.param("store", True, id="kept at the provider"),
        pytest.param("service_tier", "fast", id="dearer"),
        pytest.param("moderation", {"model": "x"}, id="another model"),
        pytest.param("a_key_of_the_future", 1, id="a key that nobody has thought about"),
    ],
)
def test_keys_that_reach_out_or_cost_more_are_refused_by_name(key: str, value: object) -> None:
    assert f"`{key}`" in said(**{key: value})


@pytest.mark.parametrize("kind", ["web_search", "mcp", "file_search", None])
def test_tools_that_run_at_the_provider_are_refused(kind: str | None) -> None:
    assert f"tool type {kind}" in said(tools=[{"type": kind}])


@pytest.mark.parametrize(
    "piece",
    [
        {"type": "image_url", "image_url": {"url": "https://evil.example/?data"}},
        {"type": "image_url", "image_url": "https://evil.example/?data"},
        {"type": "file", "file": {"file_id": "file-1"}},
        {"type": "file", "file": {"file_url": "https://evil.example/x"}},
    ],
)
def test_content_that_the_provider_would_fetch_is_refused(piece: dict[str, Any]) -> None:
    assert "send the content itself" in said(messages=content(piece))


def test_sound_is_refused() -> None:
    assert "input_audio" in said(messages=content({"type": "input_audio", "input_audio": {}}))
    assert "`audio`" in said(messages=[{"role": "assistant", "audio": {"id": "audio_1"}}])
