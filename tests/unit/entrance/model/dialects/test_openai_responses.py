"""OpenAI's Responses API, read."""

from typing import Any

import orjson
import pytest

from entrance.decision import Deny
from entrance.model.dialects import Asked, Endpoint
from entrance.model.dialects.openai_responses import Responses
from entrance.model.tokens import Tokens
from tests.servers import openai

DIALECT = Responses()
ENDPOINT = Endpoint("/v1/responses")
ASKED = Asked("m", streams=True, body=b"x" * 400)


def asked_for(**more: Any) -> Asked:
    asked = DIALECT.read_request(ENDPOINT, orjson.dumps({"model": "m", "input": "Hi"} | more))
    assert isinstance(asked, Asked)
    return asked


def sse(event: dict[str, Any]) -> bytes:
    return b"data: " + orjson.dumps(event) + b"\n\n"


def test_one_path_is_served() -> None:
    assert DIALECT.endpoint("/v1/responses") == ENDPOINT
    for path in (
        "/v1/responses/resp_1",
        "/v1/responses/compact",
        "/v1/conversations",
        "/responses",
    ):
        assert DIALECT.endpoint(path) is None


def test_a_whole_answers_usage_is_read_with_cached_and_reasoning_tokens() -> None:
    assert DIALECT.read_answer(orjson.dumps(openai.response_body())) == openai.USED


@pytest.mark.parametrize(
    ("details", "used"),
    [
        pytest.param({}, Tokens(input=100, output=5), id="nothing cached"),
        pytest.param({"cached_tokens": 100}, Tokens(0, 5, 100), id="all cached"),
        pytest.param({"cached_tokens": 1000}, Tokens(0, 5, 100), id="more cached than there was"),
        pytest.param({"cached_tokens": "x"}, Tokens(100, 5), id="no count"),
        pytest.param(
            {"cached_tokens": 10, "cache_write_tokens": 60,
             "cache_write_tokens_details": {"ttl_12h_tokens": 40, "ttl_30m_tokens": 20}},
            Tokens(30, 5, 10, 20, 40), id="written for short and for long",
        ),
    ],
)  # fmt: skip
def test_the_prompt_is_told_apart(details: dict[str, Any], used: Tokens) -> None:
    usage = {"input_tokens": 100, "output_tokens": 5, "input_tokens_details": details}
    assert DIALECT.read_answer(orjson.dumps({"usage": usage})) == used


@pytest.mark.parametrize("kind", ["response.completed", "response.incomplete", "response.failed"])
def test_the_last_event_has_the_usage_however_the_response_ends(kind: str) -> None:
    meter = DIALECT.meter(ASKED)
    meter.feed(sse({"type": kind, "response": openai.response_body()}))
    assert (meter.tokens, meter.final) == (openai.USED, True)


def test_a_response_that_fails_without_usage_is_estimated() -> None:
    meter = DIALECT.meter(ASKED)
    meter.feed(sse({"type": "response.failed", "response": openai.response_body("", None)}))
    assert not meter.final


def test_arguments_and_sealed_reasoning_count_by_their_length() -> None:
    meter = DIALECT.meter(ASKED)
    meter.feed(sse({"type": "response.function_call_arguments.delta", "delta": "a" * 40}))
    meter.feed(sse({"type": "response.reasoning_summary_text.delta", "delta": "r" * 40}))
    item = {"type": "reasoning", "encrypted_content": "e" * 80}
    meter.feed(sse({"type": "response.output_item.done", "item": item}))
    assert meter.tokens.output == 40


def test_a_cut_stream_ends_with_the_response_that_had_begun() -> None:
    meter = DIALECT.meter(ASKED)
    meter.feed(b"".join(openai.response_events()[:4]))
    event, data = meter.end(403, "budget", "It is spent.").decode().strip().split("\n")
    assert event == "event: response.failed"
    told = orjson.loads(data.removeprefix("data: "))
    assert told["sequence_number"] == 4
    assert (told["response"]["id"], told["response"]["status"]) == ("resp_1", "failed")
    assert told["response"]["error"]["code"] == "insufficient_quota"


def test_a_stream_that_is_cut_before_it_began_ends_whole_all_the_same() -> None:
    end = DIALECT.meter(ASKED).end(502, "provider", "Gone.")
    told = orjson.loads(end.splitlines()[1][6:])
    assert told["response"]["model"] == "m"
    assert told["response"]["error"] == {"code": "server_error", "message": "Gone."}


def test_nothing_is_stored_whatever_was_asked() -> None:
    assert orjson.loads(asked_for().body)["store"] is False
    assert orjson.loads(asked_for(store=None).body)["store"] is False
    assert isinstance(DIALECT.read_request(ENDPOINT, b'{"model":"m","store":true}'), Deny)


def test_what_bounds_an_answer_is_read_and_can_be_lowered() -> None:
    asked = asked_for(max_output_tokens=500, stream=True)
    assert (asked.max_output, asked.least_output, asked.streams) == (500, 16, True)
    assert asked_for().max_output is None
    capped = DIALECT.capped(asked, 77)
    assert orjson.loads(capped.body) == orjson.loads(asked.body) | {"max_output_tokens": 77}


def test_the_prompt_may_always_be_written_to_a_cache_and_for_long_only_if_asked() -> None:
    assert asked_for().caches == "yes"
    assert asked_for(prompt_cache_options={"ttl": "12h"}).caches == "long"


def test_pictures_are_counted_apart() -> None:
    picture = {"type": "input_image", "image_url": "data:image/png;base64," + "A" * 1000}
    inputs = [
        {"role": "user", "content": [picture]},
        {"type": "function_call_output", "call_id": "c", "output": [picture]},
    ]
    asked = asked_for(input=inputs)
    assert (asked.images, asked.image_bytes) == (2, 2044)


@pytest.mark.parametrize(
    "raw", [b"", b"[]", b"{}", b'{"model":1}', b"\xff", b'{"model":"m","max_output_tokens":0}']
)
def test_what_is_no_request_is_refused(raw: bytes) -> None:
    with pytest.raises((ValueError, TypeError)):
        DIALECT.read_request(ENDPOINT, raw)


def test_an_empty_budget_is_told_so_that_clients_give_up() -> None:
    assert DIALECT.error(403, "budget", "x")["error"]["code"] == "insufficient_quota"
    assert DIALECT.error(403, "refused", "x")["error"]["type"] == "permission_error"
    assert DIALECT.error(502, "provider", "x")["error"]["type"] == "server_error"
