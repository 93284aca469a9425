from typing import Any

import pytest
from native.conversation import Call, Prompt, Reply, Result, Results
from native.dialects import Stop, Usage
from native.patience import Kind, Trouble

from tests.unit.native.dialects.talk import SCHEMA, answered, asked, dialect

ME = "anthropic:m"
CACHED = {"cache_control": {"type": "ephemeral"}}


def start(**usage: int) -> dict[str, Any]:
    return {"type": "message_start", "message": {"usage": usage}}


def block(index: int, block: dict[str, Any], *deltas: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {"type": "content_block_start", "index": index, "content_block": block},
        *({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": index},
    ]


def end(reason: str | None = "tool_use", **usage: int) -> dict[str, Any]:
    return {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": usage}


def text(*words: str) -> list[dict[str, Any]]:
    deltas = ({"type": "text_delta", "text": word} for word in words)
    return block(0, {"type": "text", "text": ""}, *deltas)


def test_a_conversation_becomes_a_request() -> None:
    request = dialect("anthropic").request(asked(ME))
    assert request.path == "/v1/messages"
    assert request.body["system"] == [{"type": "text", "text": "Be careful.", **CACHED}]
    assert request.body["tools"] == [
        {"name": "bash", "description": "Runs.", "input_schema": SCHEMA}
    ]
    assert request.body["stream"] is True
    assert request.body["messages"] == [
        {"role": "user", "content": [{"type": "text", "text": "Fix it."}]},
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "I look."},
                {"type": "tool_use", "id": "c1", "name": "bash", "input": {"command": "ls"}},
                {"type": "tool_use", "id": "c2", "name": "bash", "input": {}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "c1", "content": "a.py", "is_error": False},
                {"type": "tool_result", "tool_use_id": "c2", "content": "no", "is_error": True},
            ],
        },
        {"role": "user", "content": [{"type": "text", "text": "Sent back: again.", **CACHED}]},
    ]


def test_thoughts_go_back_as_they_came() -> None:
    thought = block(
        0,
        {"type": "thinking", "thinking": "", "signature": ""},
        {"type": "thinking_delta", "thinking": "Let "},
        {"type": "thinking_delta", "thinking": "me see"},
        {"type": "signature_delta", "signature": "c2ln"},
    )
    sealed = block(1, {"type": "redacted_thinking", "data": "xyz"})
    call = block(
        2,
        {"type": "tool_use", "id": "t1", "name": "bash", "input": {}},
        {"type": "input_json_delta", "partial_json": '{"command"'},
        {"type": "input_json_delta", "partial_json": ': "ls"}'},
    )
    answer = answered(dialect("anthropic"), ME, [start(), *thought, *sealed, *call, end()])
    assert answer is not None
    assert answer.reasoning == "Let me see"
    assert answer.reply.calls == (Call("t1", "bash", {"command": "ls"}),)
    results = Results((Result("t1", "bash", "a.py"),))
    sent = dialect("anthropic").request(asked(ME, Prompt("p"), answer.reply, results))
    assert sent.body["messages"][1]["content"] == [
        {"type": "thinking", "thinking": "Let me see", "signature": "c2ln"},
        {"type": "redacted_thinking", "data": "xyz"},
        {"type": "tool_use", "id": "t1", "name": "bash", "input": {"command": "ls"}},
    ]


def test_usage_is_the_last_that_was_said() -> None:
    began = start(
        input_tokens=9, output_tokens=1, cache_read_input_tokens=5, cache_creation_input_tokens=4
    )
    answer = answered(
        dialect("anthropic"), ME, [began, *text("a ", "b"), end("end_turn", output_tokens=7)]
    )
    assert answer is not None
    assert answer.usage == Usage(9, 7, 5, 4)
    assert answer.usage.total == 25
    assert answer.reply.text == "a b"


@pytest.mark.parametrize(
    ("reason", "stop"),
    [("end_turn", "done"), ("tool_use", "done"), ("max_tokens", "cut"), ("refusal", "refused"),
     ("pause_turn", "paused"), ("model_context_window_exceeded", "cut")],
)  # fmt: skip
def test_why_it_stopped(reason: str, stop: Stop) -> None:
    answer = answered(dialect("anthropic"), ME, [start(), *text("x"), end(reason)])
    assert answer is not None
    assert (answer.stop, answer.reason) == (stop, reason)


def test_an_answer_without_its_end_is_none() -> None:
    assert answered(dialect("anthropic"), ME, [start(), *text("x"), end(None)]) is None


def test_arguments_that_are_no_json_stay_a_text_and_dont_go_back() -> None:
    broken = block(
        0,
        {"type": "tool_use", "id": "t1", "name": "bash", "input": {}},
        {"type": "input_json_delta", "partial_json": '{"comm'},
    )
    answer = answered(dialect("anthropic"), ME, [start(), *broken, end("max_tokens")])
    assert answer is not None
    assert answer.reply.calls == (Call("t1", "bash", '{"comm'),)
    assert answer.reply.items[0]["input"] == {}


def test_nothing_empty_goes_out() -> None:
    answer = answered(dialect("anthropic"), ME, [start(), *text(""), end("end_turn")])
    assert answer is not None
    assert answer.reply.is_empty
    sent = dialect("anthropic").request(asked(ME, Prompt("p"), Reply("")))
    assert len(sent.body["messages"]) == 1


def test_the_cache_mark_is_on_the_last_message_of_ours() -> None:
    pause = Reply("x", (), ME, ({"type": "thinking", "thinking": "x", "signature": "y"},))
    sent = dialect("anthropic").request(asked(ME, Prompt("p"), pause))
    assert sent.body["messages"][0]["content"][0] == {"type": "text", "text": "p", **CACHED}


@pytest.mark.parametrize(
    ("kind", "status", "expected"),
    [("overloaded_error", 529, "busy"), ("permission_error", 403, "final"),
     ("rate_limit_error", 429, "busy"), ("new_error", 500, "busy")],
)  # fmt: skip
def test_an_error_within_the_stream_has_its_status(kind: str, status: int, expected: Kind) -> None:
    error = {"type": "error", "error": {"type": kind, "message": "m"}}
    with pytest.raises(Trouble, match=f"{status}: m") as caught:
        answered(dialect("anthropic"), ME, [start(), error])
    assert caught.value.kind == expected


def test_a_prompt_that_is_too_long_is_told_apart() -> None:
    too_long = {"message": "prompt is too long: 9 tokens > 8 maximum"}
    assert dialect("anthropic").kind(400, too_long) == "too_long"
    assert dialect("anthropic").kind(400, {"message": "no such key"}) is None
