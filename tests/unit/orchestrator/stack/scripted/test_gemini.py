"""Gemini generateContent: what is read of a request, what is written of an answer."""

import json
from typing import Any

import pytest

from orchestrator.stack.scripted.answers import Answer, Tokens, ToolCall
from orchestrator.stack.scripted.dialects.gemini import Gemini
from orchestrator.stack.scripted.request import NotUnderstood, Prompt, Request, Result, ToolTurn

PATH = "/v1/models/gemini-x:generateContent"
GO = {"role": "user", "parts": [{"text": "go"}]}


def read(*contents: Any, path: str = PATH, **more: Any) -> Request:
    return Gemini().read(json.dumps({"contents": contents, **more}).encode(), path)


def called(*names: str, **more: Any) -> dict[str, Any]:
    calls = [{"functionCall": {"name": name, "args": {}, **more}} for name in names]
    return {"role": "model", "parts": [{"text": "hm", "thought": True}, *calls]}


def came(name: str, response: Any, **more: Any) -> dict[str, Any]:
    return {"functionResponse": {"name": name, "response": response, **more}}


def user(*parts: Any) -> dict[str, Any]:
    return {"role": "user", "parts": list(parts)}


@pytest.mark.parametrize(
    ("path", "stream"),
    [
        (PATH, False),
        ("/v1beta/models/gemini-x:generateContent?key=k", False),
        ("/v1beta/models/gemini-x:streamGenerateContent?key=k&alt=sse", True),
    ],
)
def test_the_path_says_the_model_and_whether_to_stream(path: str, stream: bool) -> None:  # noqa: FBT001 - a table
    request = read(GO, path=path)
    assert (request.model, request.stream) == ("gemini-x", stream)


def test_a_stream_that_is_no_server_sent_events_is_refused() -> None:
    with pytest.raises(NotUnderstood, match="alt=sse"):
        read(GO, path="/v1/models/m:streamGenerateContent")


def test_responses_find_their_calls_by_id_or_else_by_name_and_order() -> None:
    ids = called("bash", id="1")
    ids["parts"] += called("bash", id="2")["parts"]
    by_id = read(
        GO,
        ids,
        user(came("bash", {"output": "B"}, id="2"), came("bash", {"output": "A"}, id="1")),
    )
    by_order = read(
        GO,
        called("bash", "bash"),
        user(came("bash", {"output": "A"}), came("bash", {"output": "B"})),
    )
    results = (Result("A", is_error=None), Result("B", is_error=None))
    turns = (ToolTurn(("bash", "bash"), results),)
    assert by_id.prompts == by_order.prompts == (Prompt("go", turns),)


@pytest.mark.parametrize(
    ("response", "result"),
    [
        ({"error": "no"}, Result("no", is_error=True)),
        ({"error": {"code": 3}}, Result('{"code": 3}', is_error=True)),
        ({"result": "x"}, Result("x", is_error=None)),
        ({"output": "Exit code 1\nx"}, Result("Exit code 1\nx", is_error=True)),
        ({"status": "open"}, Result('{"status": "open"}', is_error=None)),
    ],
)
def test_a_response_is_an_object_in_which_harnesses_put_text(response: Any, result: Result) -> None:
    request = read(GO, called("t"), user(came("t", response)))
    assert request.prompts[0].turns[0].results == (result,)


def test_snake_case_and_words_after_a_response_are_understood() -> None:
    call = {"role": "model", "parts": [{"function_call": {"name": "t", "args": {}}}]}
    response = {"function_response": {"name": "t", "response": {"output": "x"}}}
    request = read(
        GO,
        call,
        user(response, {"text": "sent back"}, {"inline_data": {}}),
        system_instruction={"parts": [{"text": "sys"}]},
        tools=[{"function_declarations": [{"name": "t"}]}, {"google_search": {}}],
    )
    assert [prompt.text for prompt in request.prompts] == ["go", "sent back\n[data]"]
    assert (request.system, request.tools) == ("sys", frozenset({"t"}))


@pytest.mark.parametrize("body", [b"", b"[]", b"{}", b'{"contents": []}'])
def test_what_is_no_request_is_refused(body: bytes) -> None:
    with pytest.raises(NotUnderstood):
        Gemini().read(body, PATH)


CALLS = (ToolCall("p00", "bash", {"command": "é"}), ToolCall("p01", "read", {"path": "x"}))
ANSWER = Answer("m", "p", "two words", CALLS, Tokens(10, 9, 7, 0, 4))
USAGE = {
    "promptTokenCount": 17,
    "cachedContentTokenCount": 7,
    "candidatesTokenCount": 5,
    "thoughtsTokenCount": 4,
    "totalTokenCount": 26,
}


def test_a_whole_answer_has_words_calls_and_usage() -> None:
    """Thoughts are not among the candidates' tokens, what was cached is among the prompt's."""
    whole = json.loads(json.dumps(Gemini().whole(ANSWER, read(GO))))
    (candidate,) = whole["candidates"]
    words, first, second = candidate["content"]["parts"]
    assert (words, candidate["finishReason"]) == ({"text": "two words"}, "STOP")
    assert first["functionCall"] == {"id": "p00", "name": "bash", "args": {"command": "é"}}
    assert ("thoughtSignature" in first, "thoughtSignature" in second) == (True, False)
    assert whole["usageMetadata"] == USAGE


def test_only_the_last_chunk_of_a_stream_has_the_whole_usage() -> None:
    pieces = [piece.data for piece in Gemini().pieces(ANSWER, read(GO))]
    assert all(piece.endswith(b"\r\n\r\n") for piece in pieces)
    chunks = [json.loads(piece.removeprefix(b"data: ")) for piece in pieces]
    candidates = [chunk["candidates"][0] for chunk in chunks]
    parts = [part for candidate in candidates for part in candidate["content"]["parts"]]
    assert "".join(part.get("text", "") for part in parts) == "two words"
    assert sum("functionCall" in part for part in parts) == 2
    assert chunks[0]["usageMetadata"]["candidatesTokenCount"] == 1
    assert chunks[-1]["usageMetadata"] == USAGE
    assert [candidate.get("finishReason") for candidate in candidates[-2:]] == [None, "STOP"]


def test_what_it_has_no_word_for_is_counted_as_input() -> None:
    assert Gemini().told(Tokens(10, 9, 7, 8, 4)) == Tokens(18, 9, 7, 0, 4)
