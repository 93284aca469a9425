"""Google's Gemini API, read."""

from typing import Any

import orjson
import pytest

from entrance.decision import Deny
from entrance.model.dialects import Asked, Endpoint
from entrance.model.dialects.gemini import Gemini
from entrance.model.tokens import Tokens
from tests.servers import google

DIALECT = Gemini()
ASKED = Asked("m", streams=True, body=b"x" * 400)


def endpoint(path: str = "/v1/models/gemini-2.5-pro:generateContent") -> Endpoint:
    found = DIALECT.endpoint(path)
    assert found is not None
    return found


def asked_for(**more: Any) -> Asked:
    asked = DIALECT.read_request(endpoint(), orjson.dumps({"contents": []} | more))
    assert isinstance(asked, Asked)
    return asked


def sse(chunk: dict[str, Any]) -> bytes:
    return b"data: " + orjson.dumps(chunk) + b"\r\n\r\n"


@pytest.mark.parametrize("version", ["v1", "v1beta"])
def test_the_path_names_the_model_and_what_is_wanted(version: str) -> None:
    whole = endpoint(f"/{version}/models/gemini-2.5-pro:generateContent")
    assert (whole.model, whole.metered, whole.streams, whole.query) == (
        "gemini-2.5-pro", True, False, {},
    )  # fmt: skip
    stream = endpoint(f"/{version}/models/gemini-2.5-pro:streamGenerateContent")
    assert (stream.streams, stream.query) == (True, {"alt": "sse"})
    assert not endpoint(f"/{version}/models/gemini-2.5-pro:countTokens").metered


@pytest.mark.parametrize(
    "path",
    [
        "/v1/models/m:batchGenerateContent",
        "/v1/models/m:embedContent",
        "/v1/models/m:predict",
        "/v1/models/m",
        "/v1/models/:generateContent",
        "/v1/models/..:generateContent",
        "/v1/models/a/b:generateContent",
        "/v1/models/a%2Fb:generateContent",
        "/v2/models/m:generateContent",
        "/v1/tunedModels/m:generateContent",
        "/v1/cachedContents",
        "/upload/v1beta/files",
        "/v1/models/m:generateContent\n",
    ],
)
def test_no_other_path_is_served(path: str) -> None:
    assert DIALECT.endpoint(path) is None


def test_a_whole_answers_usage_is_read_with_cached_and_thought_tokens() -> None:
    assert DIALECT.read_answer(orjson.dumps(google.body())) == google.USED


@pytest.mark.parametrize(
    ("usage", "used"),
    [
        pytest.param({"promptTokenCount": 9}, Tokens(9), id="nothing but a prompt"),
        pytest.param(
            {"promptTokenCount": 9, "toolUsePromptTokenCount": 4, "candidatesTokenCount": 2},
            Tokens(13, 2), id="the results of tools are prompt too",
        ),
        pytest.param(
            {"promptTokenCount": 9, "cachedContentTokenCount": 20}, Tokens(0, 0, 9),
            id="more cached than there was",
        ),
        pytest.param({"promptTokenCount": "x"}, Tokens(), id="no count"),
    ],
)  # fmt: skip
def test_what_was_used_is_told_apart(usage: dict[str, Any], used: Tokens) -> None:
    assert DIALECT.read_answer(orjson.dumps({"usageMetadata": usage})) == used


def test_totals_grow_and_are_not_added() -> None:
    meter = DIALECT.meter(ASKED)
    first, *others = google.chunks(["x", "y"])
    meter.feed(first)
    assert (meter.tokens, meter.final) == (Tokens(100, 21, 50), False)
    meter.feed(b"".join(others))
    assert (meter.tokens, meter.final) == (google.USED, True)


def test_calls_count_by_their_length() -> None:
    call = {"functionCall": {"name": "f", "args": {"a": "x" * 380}}}
    meter = DIALECT.meter(ASKED)
    meter.feed(sse({"candidates": [{"content": {"parts": [call]}}]}))
    assert meter.tokens.output >= 100


def test_a_prompt_that_is_blocked_is_over() -> None:
    meter = DIALECT.meter(ASKED)
    usage = {"promptTokenCount": 9}
    meter.feed(sse({"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": usage}))
    assert (meter.tokens, meter.final) == (Tokens(9), True)


def test_names_go_on_in_one_spelling_and_the_agents_own_as_they_are() -> None:
    part = {"function_call": {"name": "f", "args": {"file_data": {"some_key": 1}}}}
    declared = {"name": "f", "parameters": {"properties": {"my_key": {"type": "STRING"}}}}
    asked = asked_for(
        contents=[{"role": "model", "parts": [part]}],
        tools=[{"function_declarations": [declared]}],
        generation_config={"max_output_tokens": 50},
    )
    sent = orjson.loads(asked.body)
    args = {"file_data": {"some_key": 1}}
    assert sent["contents"][0]["parts"][0]["functionCall"]["args"] == args
    assert sent["tools"] == [{"functionDeclarations": [declared]}]
    assert sent["generationConfig"] == {"maxOutputTokens": 50}
    assert asked.max_output == 50


def test_a_name_in_two_spellings_is_no_request() -> None:
    raw = b'{"contents": [], "tools": [], "generationConfig": {}, "generation_config": {}}'
    with pytest.raises(ValueError, match="twice"):
        DIALECT.read_request(endpoint(), raw)


def test_an_answer_can_be_bounded_whether_it_was_or_not() -> None:
    bounded = asked_for(generationConfig={"maxOutputTokens": 50, "temperature": 0})
    sent = orjson.loads(DIALECT.capped(bounded, 7).body)
    assert sent["generationConfig"] == {"maxOutputTokens": 7, "temperature": 0}
    sent = orjson.loads(DIALECT.capped(asked_for(), 7).body)
    assert sent["generationConfig"] == {"maxOutputTokens": 7}


def test_pictures_are_counted_apart() -> None:
    picture = {"inlineData": {"mimeType": "image/png", "data": "A" * 1000}}
    paper = {"inlineData": {"mimeType": "application/pdf", "data": "A" * 1000}}
    asked = asked_for(contents=[{"parts": [picture, paper, {"text": "x"}]}])
    assert (asked.images, asked.image_bytes) == (1, 1000)


@pytest.mark.parametrize(
    "raw", [b"", b"[]", b"3", b"\xff", b'{"generationConfig":{"maxOutputTokens":0}}']
)
def test_what_is_no_request_is_refused(raw: bytes) -> None:
    with pytest.raises((ValueError, TypeError)):
        DIALECT.read_request(endpoint(), raw)


def test_a_request_that_breaks_a_rule_is_denied() -> None:
    assert isinstance(DIALECT.read_request(endpoint(), b'{"cachedContent": "c"}'), Deny)


def test_errors_have_googles_words() -> None:
    error = DIALECT.error(403, "budget", "It is spent.")["error"]
    assert (error["code"], error["status"]) == (403, "PERMISSION_DENIED")
