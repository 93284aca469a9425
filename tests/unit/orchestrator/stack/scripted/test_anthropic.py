"""Anthropic Messages: what is read of a request, what is written of an answer."""

import json
from typing import Any

import pytest

from orchestrator.stack.scripted.answers import Answer, Tokens, ToolCall
from orchestrator.stack.scripted.dialects.anthropic import Anthropic
from orchestrator.stack.scripted.request import NotUnderstood, Prompt, Result, ToolTurn


def read(messages: list[dict[str, Any]], **more: Any) -> Any:
    return Anthropic().read(
        json.dumps({"model": "m", "messages": messages, **more}).encode(), "/v1/messages"
    )


def user(*content: Any) -> dict[str, Any]:
    return {
        "role": "user",
        "content": [{"type": "text", "text": c} if isinstance(c, str) else c for c in content],
    }


def called(*ids: str) -> dict[str, Any]:
    blocks = [{"type": "tool_use", "id": id_, "name": f"tool_{id_}", "input": {}} for id_ in ids]
    return {"role": "assistant", "content": [{"type": "text", "text": "hm"}, *blocks]}


def result(id_: str, content: Any = "ok", **more: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": id_, "content": content, **more}


def test_results_find_their_calls_whatever_their_order() -> None:
    parts = [{"type": "text", "text": "x"}, {"type": "image", "source": {}}]
    request = read(
        [user("go"), called("1", "2"), user(result("2", parts, is_error=True), result("1"))]
    )
    turn = ToolTurn(("tool_1", "tool_2"), (Result("ok"), Result("x\n[image]", is_error=True)))
    assert request.prompts == (Prompt("go", (turn,)),)


def test_reminders_and_system_messages_are_no_prompt() -> None:
    """CASE-104: Claude Code puts messages of the role system among the others."""
    request = read(
        [
            user("<system-reminder>be\nnice</system-reminder>", "go"),
            {"role": "system", "content": "you are in /w"},
            {"role": "user", "content": "now"},
            called("1"),
            user(result("1"), "<system-reminder>todo</system-reminder>"),
        ],
        system=[{"type": "text", "text": "sys"}],
    )
    assert [(prompt.text, len(prompt.turns)) for prompt in request.prompts] == [("go\nnow", 1)]
    assert request.system == "sys\nyou are in /w"


def test_words_after_a_result_start_a_new_prompt() -> None:
    request = read(
        [user("go"), called("1"), user(result("1"), "sent back"), called("2"), user(result("2"))]
    )
    assert [(prompt.text, len(prompt.turns)) for prompt in request.prompts] == [
        ("go", 1),
        ("sent back", 1),
    ]


def test_a_resumed_conversation_has_one_prompt_more() -> None:
    said = {"role": "assistant", "content": "done"}
    assert [p.text for p in read([user("go"), said, user("again")]).prompts] == ["go", "again"]


def test_a_result_that_is_missing_is_none() -> None:
    assert read([user("go"), called("1"), user(result("9"))]).prompts[0].turns[0].results == (None,)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b'{"model": "m"}',
        b'{"model": "m", "messages": [3]}',
        b'{"model": "m", "messages": []}',
    ],
)
def test_what_is_no_request_is_refused(body: bytes) -> None:
    with pytest.raises(NotUnderstood):
        Anthropic().read(body, "/v1/messages")


ASKED = read([user("go")])
ANSWER = Answer(
    "m", "p1", "two words", (ToolCall("p100", "bash", {"command": "é" * 50}),), Tokens(5, 6, 7, 8)
)


def test_a_whole_answer_has_words_calls_and_usage() -> None:
    whole = json.loads(json.dumps(Anthropic().whole(ANSWER, ASKED)))
    assert whole["content"] == [
        {"type": "text", "text": "two words"},
        {"type": "tool_use", "id": "toolu_p100", "name": "bash", "input": {"command": "é" * 50}},
    ]
    assert whole["stop_reason"] == "tool_use"
    assert whole["usage"] == {
        "input_tokens": 5,
        "output_tokens": 6,
        "cache_read_input_tokens": 7,
        "cache_creation_input_tokens": 8,
        "service_tier": "standard",
    }


def test_a_streamed_answer_adds_up_to_the_whole_one() -> None:
    events = [
        json.loads(piece.data.split(b"data: ")[1]) for piece in Anthropic().pieces(ANSWER, ASKED)
    ]
    kinds = [event["type"] for event in events]
    deltas = [event["delta"] for event in events if event["type"] == "content_block_delta"]
    assert kinds[:2] == ["message_start", "ping"]
    assert kinds[-2:] == ["message_delta", "message_stop"]
    assert kinds.count("content_block_start") == kinds.count("content_block_stop") == 2
    assert "".join(delta.get("text", "") for delta in deltas) == "two words"
    arguments = "".join(delta.get("partial_json", "") for delta in deltas)
    assert json.loads(arguments) == {"command": "é" * 50}
    assert events[0]["message"]["usage"]["output_tokens"] == 1
    assert events[-2]["usage"]["output_tokens"] == 6
