"""What every dialect's meter promises, for each of them."""

from dataclasses import dataclass
from itertools import pairwise

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from entrance.model.dialects import Asked, Dialect
from entrance.model.dialects.anthropic import Anthropic
from entrance.model.dialects.gemini import Gemini
from entrance.model.dialects.openai_chat import ChatCompletions
from entrance.model.dialects.openai_responses import Responses
from entrance.model.tokens import Tokens
from tests.servers import anthropic, google, openai

ASKED = Asked("m", streams=True, body=b"x" * 400)


@dataclass(frozen=True)
class Sample:
    """One dialect with a stream of its own, what it has used, and a long one that has not ended."""

    dialect: Dialect
    events: list[bytes]
    used: Tokens
    open: list[bytes]


SAMPLES = [
    pytest.param(
        Sample(
            Anthropic(), anthropic.events(), Tokens(100, 10, 50, 15, 5),
            anthropic.events(["x" * 400])[:4],
        ),
        id="anthropic",
    ),
    pytest.param(
        Sample(
            Responses(), openai.response_events(), openai.USED,
            openai.response_events(["x" * 400])[:4],
        ),
        id="responses",
    ),
    pytest.param(
        Sample(
            ChatCompletions(), openai.chat_chunks(), openai.USED, openai.chat_chunks(["x" * 400])[:2]
        ),
        id="chat",
    ),
    pytest.param(
        Sample(Gemini(), google.chunks(), google.USED, google.chunks(["x" * 400])[:1]), id="gemini"
    ),
]  # fmt: skip
every_dialect = pytest.mark.parametrize("sample", SAMPLES)


@every_dialect
@given(cuts=st.lists(st.integers(0, 5000), max_size=30))
def test_usage_is_read_however_the_stream_is_cut(sample: Sample, cuts: list[int]) -> None:
    whole = b"".join(sample.events)
    edges = sorted({0, len(whole), *(cut for cut in cuts if cut < len(whole))})
    meter = sample.dialect.meter(ASKED)
    out = b"".join(meter.feed(whole[a:b]) for a, b in pairwise(edges)) + meter.rest()
    assert out == whole
    assert (meter.tokens, meter.final) == (sample.used, True)


@every_dialect
def test_byte_by_byte_is_fine_too(sample: Sample) -> None:
    whole = b"".join(sample.events)
    meter = sample.dialect.meter(ASKED)
    assert b"".join(meter.feed(whole[at : at + 1]) for at in range(len(whole))) == whole
    assert meter.tokens == sample.used


@every_dialect
def test_only_whole_events_are_sent_on(sample: Sample) -> None:
    meter = sample.dialect.meter(ASKED)
    first, second = sample.events[0], sample.events[1]
    assert meter.feed(first + second[:-1]) == first
    assert meter.feed(second[-1:]) == second


@every_dialect
def test_before_anything_is_told_the_prompt_is_guessed_by_its_length(sample: Sample) -> None:
    meter = sample.dialect.meter(ASKED)
    assert (meter.tokens, meter.final) == (Tokens(input=100), False)


@every_dialect
def test_before_the_last_word_the_answer_counts_by_its_length(sample: Sample) -> None:
    meter = sample.dialect.meter(ASKED)
    meter.feed(b"".join(sample.open))
    assert meter.tokens.output == 100
    assert not meter.final


@every_dialect
def test_a_cut_stream_ends_with_an_event_that_names_the_reason(sample: Sample) -> None:
    meter = sample.dialect.meter(ASKED)
    meter.feed(b"".join(sample.open))
    end = meter.end(403, "budget", "It is spent.")
    assert end.endswith((b"\n\n", b"\r\n\r\n"))
    line = next(line for line in end.splitlines() if line.startswith(b"data:"))
    assert "It is spent." in orjson.dumps(orjson.loads(line[5:])).decode()


@every_dialect
@given(raw=st.binary(max_size=300))
def test_no_stream_makes_it_stumble(sample: Sample, raw: bytes) -> None:
    meter = sample.dialect.meter(ASKED)
    assert meter.feed(raw) + meter.rest() == raw


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(
            ["type", "usage", "delta", "message", "response", "item", "choices", "candidates",
             "content", "parts", "usageMetadata", "input_tokens_details", "prompt_tokens"]
        ),
        inner,
        max_size=4,
    ),
    max_leaves=12,
)  # fmt: skip


@every_dialect
@given(told=JSON)
def test_no_json_makes_it_stumble(sample: Sample, told: object) -> None:
    meter = sample.dialect.meter(ASKED)
    raw = b"data: " + orjson.dumps(told) + b"\n\n"
    assert meter.feed(raw) == raw
    assert meter.tokens.prompt >= 0
    sample.dialect.read_answer(orjson.dumps(told))


@every_dialect
@pytest.mark.parametrize("raw", [b"", b"{", b"[]", b"{}", b'{"usage":null}', b'{"usage":3}', b"3"])
def test_an_answer_without_usage_has_none(sample: Sample, raw: bytes) -> None:
    assert sample.dialect.read_answer(raw) is None


@every_dialect
@pytest.mark.parametrize("status", [400, 403, 404, 429, 502, 503])
def test_an_error_is_an_object_with_its_message(sample: Sample, status: int) -> None:
    error = sample.dialect.error(status, "code", "It is so.")["error"]
    assert error["message"] == "It is so."
