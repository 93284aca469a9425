"""OpenAI's Chat Completions API, read."""

from typing import Any

import orjson
import pytest

from entrance.decision import Deny
from entrance.model.dialects import Asked, Endpoint
from entrance.model.dialects.openai_chat import ChatCompletions
from tests.servers import openai

DIALECT = ChatCompletions()
ENDPOINT = Endpoint("/v1/chat/completions")
ASKED = Asked("m", streams=True, body=b"x" * 400)
KEPT = Asked("m", streams=True, body=b"x" * 400, keeps_usage=True)


def asked_for(**more: Any) -> Asked:
    asked = DIALECT.read_request(ENDPOINT, orjson.dumps({"model": "m", "messages": []} | more))
    assert isinstance(asked, Asked)
    return asked


def test_one_path_is_served() -> None:
    assert DIALECT.endpoint("/v1/chat/completions") == ENDPOINT
    for path in ("/v1/chat/completions/c1", "/v1/completions", "/v1/embeddings"):
        assert DIALECT.endpoint(path) is None


def test_a_whole_answers_usage_is_read_with_cached_and_reasoning_tokens() -> None:
    assert DIALECT.read_answer(orjson.dumps(openai.chat_body())) == openai.USED


def test_a_stream_is_asked_for_its_usage_and_keeps_it_from_who_did_not_ask() -> None:
    asked = asked_for(stream=True, stream_options={"include_obfuscation": False})
    options = {"include_obfuscation": False, "include_usage": True}
    assert orjson.loads(asked.body)["stream_options"] == options
    assert asked.keeps_usage
    assert not asked_for(stream=True, stream_options={"include_usage": True}).keeps_usage
    assert "stream_options" not in orjson.loads(asked_for().body)


@pytest.mark.parametrize("size", [1, 50, 10_000])
def test_who_did_not_ask_for_usage_gets_the_stream_without_its_chunk(size: int) -> None:
    whole = b"".join(openai.chat_chunks())
    meter = DIALECT.meter(KEPT)
    out = b"".join(meter.feed(whole[at : at + size]) for at in range(0, len(whole), size))
    assert out + meter.rest() == b"".join(openai.chat_chunks(usage=False))
    assert meter.tokens == openai.USED


def test_usage_beside_an_answer_is_not_kept_back() -> None:
    chunk = openai.chat_body() | {"choices": [{"index": 0, "delta": {"content": "x"}}]}
    raw = b"data: " + orjson.dumps(chunk) + b"\n\n"
    meter = DIALECT.meter(KEPT)
    assert meter.feed(raw) == raw
    assert meter.final


def test_tool_calls_and_reasoning_count_by_their_length() -> None:
    call = {
        "index": 0,
        "id": "call",
        "type": "function",
        "function": {"name": "n", "arguments": "a" * 40},
    }
    delta = {"tool_calls": [call], "reasoning_content": "r" * 40, "role": "assistant"}
    meter = DIALECT.meter(ASKED)
    meter.feed(b"data: " + orjson.dumps({"choices": [{"delta": delta}]}) + b"\n\n")
    assert meter.tokens.output == 20


def test_a_cut_stream_ends_with_an_error_and_the_mark_that_ends_every_stream() -> None:
    end = DIALECT.meter(ASKED).end(403, "budget", "It is spent.")
    error, mark = end.decode().strip().split("\n\n")
    assert orjson.loads(error.removeprefix("data: "))["error"]["code"] == "insufficient_quota"
    assert mark == "data: [DONE]"


@pytest.mark.parametrize(
    ("more", "most"),
    [
        ({}, None),
        ({"max_tokens": 5}, 5),
        ({"max_completion_tokens": 6}, 6),
        ({"max_tokens": 7, "max_completion_tokens": 6}, 7),
    ],
)
def test_what_bounds_an_answer_is_read_under_both_names(
    more: dict[str, int], most: int | None
) -> None:
    asked = asked_for(**more)
    assert asked.max_output == most
    capped = orjson.loads(DIALECT.capped(asked, 3).body)
    names = more or {"max_completion_tokens": 0}
    assert {name: capped[name] for name in names} == dict.fromkeys(names, 3)
    assert len(capped) == len(orjson.loads(asked.body)) + (not more)


def test_pictures_are_counted_apart() -> None:
    url = "data:image/png;base64," + "A" * 1000
    pieces = [{"type": "image_url", "image_url": {"url": url}}, {"type": "text", "text": "x"}]
    asked = asked_for(messages=[{"role": "user", "content": pieces}])
    assert (asked.images, asked.image_bytes) == (1, 1022)


def test_nothing_is_stored_whatever_was_asked() -> None:
    assert orjson.loads(asked_for().body)["store"] is False
    assert isinstance(DIALECT.read_request(ENDPOINT, b'{"model":"m","store":true}'), Deny)


@pytest.mark.parametrize(
    "raw", [b"", b"[]", b"{}", b'{"model":1}', b'{"model":"m","max_tokens":"x"}']
)
def test_what_is_no_request_is_refused(raw: bytes) -> None:
    with pytest.raises((ValueError, TypeError)):
        DIALECT.read_request(ENDPOINT, raw)
