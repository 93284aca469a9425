from typing import Any

import pytest
from native.conversation import Call, Prompt
from native.dialects import Stop, Usage
from native.patience import Kind, Trouble

from tests.unit.native.dialects.talk import SCHEMA, answered, asked, dialect

ME = "openai:m"
THOUGHT = {
    "id": "rs_1",
    "type": "reasoning",
    "summary": [{"type": "summary_text", "text": "I see."}],
    "encrypted_content": "sealed",
}
SAID = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "content": [{"type": "output_text", "text": "I look."}],
}
CALLED = {
    "id": "fc_1",
    "type": "function_call",
    "call_id": "c1",
    "name": "bash",
    "arguments": '{"command": "ls"}',
}


def items(*items: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {"type": "response.output_item.done", "output_index": n, "item": item}
        for n, item in enumerate(items)
    ]


def end(kind: str = "completed", **response: Any) -> dict[str, Any]:
    return {"type": f"response.{kind}", "response": response}


def test_a_conversation_becomes_a_request() -> None:
    request = dialect("openai").request(asked(ME))
    assert request.path == "/v1/responses"
    assert (request.body["store"], request.body["stream"]) == (False, True)
    assert request.body["instructions"] == "Be careful."
    assert request.body["include"] == ["reasoning.encrypted_content"]
    assert request.body["tools"] == [
        {
            "type": "function",
            "name": "bash",
            "description": "Runs.",
            "parameters": SCHEMA,
            "strict": False,
        }
    ]
    assert request.body["input"] == [
        {"type": "message", "role": "user", "content": "Fix it."},
        {"type": "message", "role": "assistant", "content": "I look."},
        {
            "type": "function_call",
            "call_id": "c1",
            "name": "bash",
            "arguments": '{"command": "ls"}',
        },
        {"type": "function_call", "call_id": "c2", "name": "bash", "arguments": "{brok"},
        {"type": "function_call_output", "call_id": "c1", "output": "a.py"},
        {"type": "function_call_output", "call_id": "c2", "output": "Error: no"},
        {"type": "message", "role": "user", "content": "Sent back: again."},
    ]


def test_models_that_dont_think_are_not_asked_for_thoughts() -> None:
    assert "include" not in dialect("openai").request(asked("openai:gpt-4.1")).body


@pytest.mark.parametrize("listed", [True, False])
def test_items_go_back_as_they_came(listed: bool) -> None:  # noqa: FBT001 - a table
    """Some gateways leave the output out of the last event."""
    output: dict[str, Any] = {"output": [THOUGHT, SAID, CALLED]} if listed else {}
    answer = answered(dialect("openai"), ME, [*items(THOUGHT, SAID, CALLED), end(**output)])
    assert answer is not None
    assert (answer.reply.text, answer.reasoning) == ("I look.", "I see.")
    assert answer.reply.calls == (Call("c1", "bash", {"command": "ls"}),)
    sent = dialect("openai").request(asked(ME, Prompt("p"), answer.reply))
    assert sent.body["input"][1:] == [THOUGHT, SAID, CALLED]


def test_cached_and_written_tokens_are_told_apart_and_thoughts_are_output() -> None:
    usage = {
        "input_tokens": 100,
        "input_tokens_details": {"cached_tokens": 60, "cache_write_tokens": 10},
        "output_tokens": 50,
        "output_tokens_details": {"reasoning_tokens": 40},
    }
    answer = answered(dialect("openai"), ME, [end(output=[SAID], usage=usage)])
    assert answer is not None
    assert answer.usage == Usage(30, 50, 60, 10)


@pytest.mark.parametrize(
    ("event", "stop"),
    [
        (end(output=[SAID]), "done"),
        (
            end("incomplete", output=[SAID], incomplete_details={"reason": "max_output_tokens"}),
            "cut",
        ),
        (
            end("incomplete", output=[SAID], incomplete_details={"reason": "content_filter"}),
            "refused",
        ),
        (
            end(output=[{**SAID, "content": [{"type": "refusal", "refusal": "No."}]}]),
            "refused",
        ),
    ],
)
def test_why_it_stopped(event: dict[str, Any], stop: Stop) -> None:
    answer = answered(dialect("openai"), ME, [event])
    assert answer is not None
    assert answer.stop == stop
    assert answer.reply.text in {"I look.", "No."}


def test_an_answer_without_its_end_is_none() -> None:
    assert answered(dialect("openai"), ME, items(SAID)) is None


@pytest.mark.parametrize(
    ("code", "expected"),
    [("context_length_exceeded", "too_long"), ("insufficient_quota", "final"),
     ("rate_limit_exceeded", "busy"), ("server_error", "busy"), ("server_is_overloaded", "busy")],
)  # fmt: skip
def test_an_error_within_the_stream_is_of_its_kind(code: str, expected: Kind) -> None:
    told = {"code": code, "message": "m"}
    for event in (end("failed", error=told), {"type": "error", **told}):
        with pytest.raises(Trouble, match=": m") as caught:
            answered(dialect("openai"), ME, [event])
        assert caught.value.kind == expected


def test_no_money_left_is_no_reason_to_wait() -> None:
    assert dialect("openai").kind(429, {"type": "insufficient_quota"}) == "final"
    assert dialect("openai").kind(429, {"code": "rate_limit_exceeded"}) is None
    assert dialect("openai").kind(400, {"code": "context_length_exceeded"}) == "too_long"
