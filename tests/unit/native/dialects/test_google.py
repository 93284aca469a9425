from typing import Any

import pytest
from native.conversation import Call, Prompt, Result, Results
from native.dialects import Stop, Usage
from native.patience import Kind, Trouble

from tests.unit.native.dialects.talk import SCHEMA, answered, asked, dialect

ME = "google:m"


def chunk(*parts: dict[str, Any], reason: str | None = None, **more: Any) -> dict[str, Any]:
    candidate: dict[str, Any] = {"content": {"role": "model", "parts": list(parts)}}
    return {"candidates": [candidate | ({"finishReason": reason} if reason else {})], **more}


def test_a_conversation_becomes_a_request() -> None:
    request = dialect("google").request(asked(ME))
    assert request.path == "/v1beta/models/m:streamGenerateContent?alt=sse"
    assert request.body["systemInstruction"] == {"parts": [{"text": "Be careful."}]}
    assert request.body["tools"] == [
        {
            "functionDeclarations": [
                {"name": "bash", "description": "Runs.", "parametersJsonSchema": SCHEMA}
            ]
        }
    ]
    call, broken = (
        {"functionCall": {"id": id_, "name": "bash", "args": args}}
        for id_, args in (("c1", {"command": "ls"}), ("c2", {}))
    )
    good, bad = (
        {"functionResponse": {"id": id_, "name": "bash", "response": response}}
        for id_, response in (("c1", {"output": "a.py"}), ("c2", {"error": "no"}))
    )
    assert request.body["contents"] == [
        {"role": "user", "parts": [{"text": "Fix it."}]},
        {"role": "model", "parts": [{"text": "I look."}, call, broken]},
        {"role": "user", "parts": [good, bad]},
        {"role": "user", "parts": [{"text": "Sent back: again."}]},
    ]


def test_signed_parts_go_back_as_they_came_and_words_are_joined() -> None:
    signed = {
        "functionCall": {"id": "c1", "name": "bash", "args": {"command": "ls"}},
        "thoughtSignature": "c2ln",
    }
    last = {"text": "", "thoughtSignature": "ZW5k"}
    parts: list[dict[str, Any]] = [
        {"text": "Hm.", "thought": True},
        {"text": "I "},
        {"text": "look."},
        {"text": ""},
    ]
    answer = answered(
        dialect("google"), ME, [*map(chunk, parts), chunk(signed), chunk(last, reason="STOP")]
    )
    assert answer is not None
    assert (answer.reasoning, answer.reply.text) == ("Hm.", "I look.")
    assert answer.reply.calls == (Call("c1", "bash", {"command": "ls"}),)
    sent = dialect("google").request(asked(ME, Prompt("p"), answer.reply))
    assert sent.body["contents"][1]["parts"] == [
        {"text": "Hm.", "thought": True},
        {"text": "I look."},
        signed,
        last,
    ]


def test_calls_without_an_id_get_results_without_one() -> None:
    called = chunk(
        {"functionCall": {"name": "bash"}}, {"functionCall": {"name": "bash"}}, reason="STOP"
    )
    answer = answered(dialect("google"), ME, [called])
    assert answer is not None
    one, other = answer.reply.calls
    assert one.id != other.id
    assert one.input == {}
    results = Results((Result(one.id, "bash", "a"), Result(other.id, "bash", "b")))
    sent = dialect("google").request(asked(ME, Prompt("p"), answer.reply, results))
    assert [piece["functionResponse"] for piece in sent.body["contents"][2]["parts"]] == [
        {"name": "bash", "response": {"output": "a"}},
        {"name": "bash", "response": {"output": "b"}},
    ]


def test_the_last_usage_counts_with_thoughts_and_without_what_was_cached() -> None:
    early = {"promptTokenCount": 100, "candidatesTokenCount": 1}
    late = {
        "promptTokenCount": 100,
        "cachedContentTokenCount": 70,
        "toolUsePromptTokenCount": 5,
        "candidatesTokenCount": 10,
        "thoughtsTokenCount": 20,
    }
    chunks = [
        chunk({"text": "a"}, usageMetadata=early),
        chunk({"text": "b"}, reason="STOP", usageMetadata=late),
    ]
    answer = answered(dialect("google"), ME, chunks)
    assert answer is not None
    assert answer.usage == Usage(35, 30, 70, 0)


@pytest.mark.parametrize(
    ("event", "stop"),
    [
        (chunk({"text": "x"}, reason="STOP"), "done"),
        (chunk(reason="STOP"), "unusable"),
        (chunk({"text": "x"}, reason="MAX_TOKENS"), "cut"),
        (chunk(reason="MALFORMED_FUNCTION_CALL"), "unusable"),
        (chunk(reason="SAFETY"), "refused"),
        ({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}}, "refused"),
    ],
)
def test_why_it_stopped(event: dict[str, Any], stop: Stop) -> None:
    answer = answered(dialect("google"), ME, [event])
    assert answer is not None
    assert answer.stop == stop
    assert answer.reason


def test_an_answer_without_its_end_is_none() -> None:
    assert answered(dialect("google"), ME, [chunk({"text": "x"})]) is None


@pytest.mark.parametrize(
    ("code", "expected"), [(429, "busy"), (403, "final"), (503, "busy"), (None, "busy")]
)
def test_an_error_within_the_stream_is_of_its_kind(code: int | None, expected: Kind) -> None:
    error = {"message": "m"} | ({"code": code} if code else {})
    with pytest.raises(Trouble, match=": m") as caught:
        answered(dialect("google"), ME, [{"error": error}])
    assert caught.value.kind == expected


def test_a_prompt_that_is_too_long_is_told_apart() -> None:
    told = "The input token count (9) exceeds the maximum number of tokens allowed (8)."
    assert dialect("google").kind(400, {"message": told}) == "too_long"
    assert dialect("google").kind(400, {"message": "Invalid value."}) is None
