"""Anthropic's Messages API, read."""

from itertools import pairwise
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from entrance.decision import Deny
from entrance.model.dialects import Asked, Endpoint
from entrance.model.dialects.anthropic import Anthropic
from entrance.model.tokens import Tokens
from tests.servers.anthropic import events

WHOLE = b"".join(events())
DIALECT = Anthropic()
ASKED = Asked("m", streams=True, body=b"x" * 400)
MESSAGES = Endpoint("/v1/messages")


def meter_of(*chunks: bytes) -> tuple[Tokens, bool]:
    meter = DIALECT.meter(ASKED)
    for chunk in chunks:
        meter.feed(chunk)
    meter.rest()
    return meter.tokens, meter.final


@given(st.lists(st.integers(0, len(WHOLE)), max_size=30))
def test_usage_is_read_however_the_stream_is_cut(cuts: list[int]) -> None:
    edges = sorted({0, len(WHOLE), *cuts})
    chunks = [WHOLE[a:b] for a, b in pairwise(edges)]
    assert meter_of(*chunks) == (Tokens(100, 10, 50, 15, 5), True)


def test_byte_by_byte_is_fine_too() -> None:
    meter = DIALECT.meter(ASKED)
    out = b"".join(meter.feed(WHOLE[at : at + 1]) for at in range(len(WHOLE)))
    assert out == WHOLE
    assert meter.tokens == Tokens(100, 10, 50, 15, 5)


def test_totals_of_message_delta_replace_and_are_not_added() -> None:
    more = b'data: {"type":"message_delta","usage":{"output_tokens":25,"input_tokens":120}}\n\n'
    tokens, final = meter_of(*events()[:-1], more)
    assert tokens == Tokens(120, 25, 50, 15, 5)
    assert final


def test_before_the_last_word_output_is_estimated_by_its_length() -> None:
    tokens, final = meter_of(*events(["x" * 400, "y" * 41])[:5])
    assert tokens == Tokens(100, 111, 50, 15, 5)
    assert not final


def test_thinking_and_tool_input_count_and_signatures_do_not() -> None:
    deltas = [
        {"type": "thinking_delta", "thinking": "t" * 40},
        {"type": "input_json_delta", "partial_json": "j" * 40},
        {"type": "signature_delta", "signature": "s" * 4000},
    ]
    told = [{"type": "content_block_delta", "index": 0, "delta": delta} for delta in deltas]
    stream = [events()[0], *(b"data: " + orjson.dumps(one) + b"\n\n" for one in told)]
    tokens, _ = meter_of(*stream)
    assert tokens.output == 20


def test_compactions_are_paid_besides_the_totals() -> None:
    usage = {
        "input_tokens": 10,
        "output_tokens": 1,
        "iterations": [
            {"type": "message", "input_tokens": 10, "output_tokens": 1},
            {"type": "compaction", "input_tokens": 1000, "output_tokens": 100},
        ],
    }
    answer = orjson.dumps({"usage": usage})
    assert DIALECT.read_answer(answer) == Tokens(1010, 101)


@pytest.mark.parametrize(
    "raw",
    [b"", b"{", b"[]", b"{}", b'{"usage":null}', b'{"usage":3}', b"null"],
)
def test_an_answer_without_usage_has_none(raw: bytes) -> None:
    assert DIALECT.read_answer(raw) is None


@pytest.mark.parametrize("usage", [{"input_tokens": "many"}, {"input_tokens": -5}, {"x": 1}])
def test_usage_that_is_no_count_is_nothing(usage: dict[str, Any]) -> None:
    assert DIALECT.read_answer(orjson.dumps({"usage": usage})) == Tokens()


@given(st.binary(max_size=300))
def test_no_stream_makes_it_stumble(raw: bytes) -> None:
    meter = DIALECT.meter(ASKED)
    assert meter.feed(raw) + meter.rest() == raw


def test_a_request_is_read_and_goes_on_as_it_was_judged() -> None:
    raw = b'{"model": "evil", "stream": true, "messages": [], "model": "claude"}'
    asked = DIALECT.read_request(MESSAGES, raw)
    assert isinstance(asked, Asked)
    assert (asked.model, asked.streams) == ("claude", True)
    assert asked.body == b'{"model":"claude","stream":true,"messages":[]}'


@pytest.mark.parametrize("raw", [b"", b"[]", b"{}", b'{"model":1}', b"\xff"])
def test_what_is_no_request_is_refused(raw: bytes) -> None:
    with pytest.raises((ValueError, TypeError)):
        DIALECT.read_request(MESSAGES, raw)


def test_a_request_that_breaks_a_rule_is_denied() -> None:
    raw = orjson.dumps({"model": "m", "mcp_servers": [{"url": "https://evil.example"}]})
    assert isinstance(DIALECT.read_request(MESSAGES, raw), Deny)


def test_a_stream_ends_with_an_event_that_clients_know() -> None:
    end = DIALECT.meter(ASKED).end(403, "budget", "It is spent.")
    assert end.startswith(b"event: error\ndata: {")
    assert end.endswith(b"}\n\n")
    assert orjson.loads(end[19:])["error"]["type"] == "permission_error"


def test_before_anything_is_told_the_prompt_is_guessed_by_its_length() -> None:
    meter = DIALECT.meter(ASKED)
    assert (meter.tokens, meter.final) == (Tokens(input=100), False)


def asked_for(**more: Any) -> Asked:
    raw = orjson.dumps({"model": "m", "max_tokens": 5000, "messages": []} | more)
    asked = DIALECT.read_request(MESSAGES, raw)
    assert isinstance(asked, Asked)
    return asked


def test_what_bounds_an_answer_is_read() -> None:
    thinking = {"type": "enabled", "budget_tokens": 2000}
    asked = asked_for(thinking=thinking)
    assert (asked.max_output, asked.least_output) == (5000, 2001)


@pytest.mark.parametrize("wrong", [0, -1, True, "many", 1.5])
def test_a_bound_that_is_no_number_is_no_request(wrong: object) -> None:
    with pytest.raises((ValueError, TypeError), match="max_tokens"):
        asked_for(max_tokens=wrong)


@pytest.mark.parametrize(
    ("control", "caches"),
    [
        (None, "no"),
        ({"type": "ephemeral"}, "yes"),
        ({"type": "ephemeral", "ttl": "1h"}, "long"),
    ],
)
def test_it_is_seen_whether_the_prompt_may_be_written_to_a_cache(
    control: dict[str, str] | None, caches: str
) -> None:
    block = {"type": "text", "text": 'I say "cache_control"'} | (
        {"cache_control": control} if control else {}
    )
    assert asked_for(system=[block]).caches == caches


def test_pictures_are_counted_apart_however_deep() -> None:
    image = {"type": "image", "source": {"type": "base64", "data": "A" * 1000}}
    result = {"type": "tool_result", "tool_use_id": "t", "content": [image, image]}
    asked = asked_for(messages=[{"role": "user", "content": [image, result]}])
    assert (asked.images, asked.image_bytes) == (3, 3000)


def test_a_shorter_answer_is_asked_for_and_nothing_else_changes() -> None:
    asked = asked_for(stream=True)
    capped = DIALECT.capped(asked, 77)
    assert orjson.loads(capped.body) == orjson.loads(asked.body) | {"max_tokens": 77}
    assert (capped.max_output, capped.streams) == (77, True)
