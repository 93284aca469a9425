"""OpenAI Chat Completions: what is read of a request, what is written of an answer."""

import json
from typing import Any

import pytest

from orchestrator.stack.scripted.answers import Answer, Tokens, ToolCall
from orchestrator.stack.scripted.dialects.openai_chat import OpenAIChat
from orchestrator.stack.scripted.request import NotUnderstood, Prompt, Request, Result, ToolTurn

GO = {"role": "user", "content": "go"}
ANSWER = Answer(
    "m", "p", "two words", (ToolCall("p00", "bash", {"command": "é" * 50}),), Tokens(10, 9, 7, 8, 4)
)
USAGE = {"prompt_tokens": 25, "completion_tokens": 9, "total_tokens": 34}


def read(*messages: Any, **more: Any) -> Request:
    body = json.dumps({"model": "m", "messages": messages, **more}).encode()
    return OpenAIChat().read(body, "/v1/chat/completions")


def called(*ids: str) -> dict[str, Any]:
    calls = [{"id": id_, "type": "function", "function": {"name": id_.upper()}} for id_ in ids]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def came(id_: str, content: Any) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id_, "content": content}


def test_results_find_their_calls_and_roles_their_places() -> None:
    parts = [{"type": "text", "text": "x"}, {"type": "image_url", "image_url": {}}]
    request = read(
        {"role": "developer", "content": "sys"},
        {"role": "user", "content": parts},
        GO,
        called("a", "b"),
        came("b", "Exit code 2\nbad"),
        came("a", "Error: no"),
        tools=[{"type": "function", "function": {"name": "bash"}}, {"type": "custom"}],
    )
    results = (Result("Error: no", is_error=True), Result("Exit code 2\nbad", is_error=True))
    assert request.prompts == (Prompt("x\n[image_url]\ngo", (ToolTurn(("A", "B"), results),)),)
    assert (request.system, request.tools) == ("sys", frozenset({"bash"}))


@pytest.mark.parametrize("body", [b"", b"[]", b'{"model": "m"}', b'{"model": "m", "messages": []}'])
def test_what_is_no_request_is_refused(body: bytes) -> None:
    with pytest.raises(NotUnderstood):
        OpenAIChat().read(body, "/v1/chat/completions")


def test_a_whole_answer_has_words_calls_and_usage() -> None:
    whole = json.loads(json.dumps(OpenAIChat().whole(ANSWER, read(GO))))
    (choice,) = whole["choices"]
    (call,) = choice["message"]["tool_calls"]
    assert (choice["message"]["content"], choice["finish_reason"]) == ("two words", "tool_calls")
    assert (call["id"], call["function"]["name"]) == ("call_p00", "bash")
    assert json.loads(call["function"]["arguments"]) == {"command": "é" * 50}
    assert whole["usage"].items() >= USAGE.items()
    assert whole["usage"]["prompt_tokens_details"]["cached_tokens"] == 7
    assert whole["usage"]["completion_tokens_details"]["reasoning_tokens"] == 4


@pytest.mark.parametrize("usage", [True, False])
def test_a_stream_says_its_usage_only_if_it_was_asked(usage: bool) -> None:  # noqa: FBT001 - a table
    asked = read(GO, stream=True, stream_options={"include_usage": usage})
    *pieces, end = [piece.data for piece in OpenAIChat().pieces(ANSWER, asked)]
    assert end == b"data: [DONE]\n\n"
    chunks = [json.loads(piece.removeprefix(b"data: ")) for piece in pieces]
    last = chunks.pop() if usage else None
    assert all(("usage" in chunk) is usage and not chunk.get("usage") for chunk in chunks)
    if last is not None:
        assert (last["choices"], last["usage"].items() >= USAGE.items()) == ([], True)
    deltas = [chunk["choices"][0]["delta"] for chunk in chunks]
    assert "".join(delta.get("content") or "" for delta in deltas) == "two words"
    calls = [call for delta in deltas for call in delta.get("tool_calls", ())]
    told = "".join(call["function"]["arguments"] for call in calls)
    assert json.loads(told) == {"command": "é" * 50}
    assert [call.get("id") for call in calls[:2]] == ["call_p00", None]
    assert chunks[-1]["choices"][0]["finish_reason"] == "tool_calls"
