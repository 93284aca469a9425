"""What a call can cost at most."""

from decimal import Decimal
from typing import Any

import pytest

from entrance.model.dialects import Asked
from entrance.model.envelope import Claim
from entrance.model.prices import Price, Rates
from entrance.model.worst import LEAST_OUTPUT, bound

MILLION = Decimal(1_000_000)
SHORT = Rates(
    input=Decimal(4),
    output=Decimal(20),
    cache_read=Decimal(1),
    cache_write=Decimal(5),
    cache_write_long=Decimal(8),
)
LONG = SHORT.model_copy(update={"above_prompt_tokens": 1000, "input": Decimal(40)})
PRICE = Price(max_output_tokens=10_000, context_tokens=100_000, rates=(SHORT,))


def asked(size: int = 200, **more: Any) -> Asked:
    return Asked("m", streams=True, body=b"x" * size, **more)


@pytest.mark.parametrize(
    ("request_", "prompt_usd", "most"),
    [
        pytest.param(asked(max_output=50), "400", 50, id="two bytes a token, the answer as asked"),
        pytest.param(asked(201, max_output=50), "404", 50, id="rounded up"),
        pytest.param(asked(), "400", 10_000, id="the model's own limit when none is asked for"),
        pytest.param(asked(max_output=50, caches="yes"), "500", 50, id="written to a cache"),
        pytest.param(asked(max_output=50, caches="long"), "800", 50, id="for long"),
        pytest.param(asked(900_000, max_output=50), "400000", 50, id="no more than the context"),
        pytest.param(
            asked(100_200, max_output=50, images=2, image_bytes=100_000),
            "96400", 50, id="a picture has its own measure",
        ),
        pytest.param(
            asked(300, max_output=50, images=2, image_bytes=100), "800", 50, id="a tiny picture",
        ),
    ],
)  # fmt: skip
def test_the_worst_of_a_call_is_its_prompt_at_the_dearest_and_its_longest_answer(
    request_: Asked, prompt_usd: str, most: int
) -> None:
    found = bound(PRICE, request_)
    assert found.prompt_usd == Decimal(prompt_usd) / MILLION
    assert found.output_tokens == most
    assert found.claim.worst_usd == found.prompt_usd + Decimal(20 * most) / MILLION


@pytest.mark.parametrize(
    ("more", "least"),
    [
        pytest.param({"max_output": 50}, 50, id="a short answer"),
        pytest.param({"max_output": 9000}, LEAST_OUTPUT, id="enough to be of use"),
        pytest.param({"max_output": 9000, "least_output": 4001}, 4001, id="what it must have"),
    ],
)
def test_the_least_of_a_call_is_an_answer_that_is_of_use(more: dict[str, int], least: int) -> None:
    found = bound(PRICE, asked(**more))
    assert found.claim.least_usd == found.prompt_usd + Decimal(20 * least) / MILLION


def test_a_long_prompt_is_bounded_at_its_own_rates() -> None:
    price = PRICE.model_copy(update={"rates": (SHORT, LONG)})
    assert bound(price, asked(2000)).prompt_usd == Decimal(4000) / MILLION
    assert bound(price, asked(2002)).prompt_usd == Decimal(40040) / MILLION


def test_what_has_no_price_claims_nothing() -> None:
    assert bound(None, asked()).claim == Claim(Decimal(0), Decimal(0))


def test_less_money_makes_a_shorter_answer() -> None:
    found = bound(PRICE, asked(max_output=5000))
    assert found.output_within(found.claim.worst_usd) is None
    assert found.output_within(found.claim.least_usd) == LEAST_OUTPUT
    assert found.output_within(found.prompt_usd + Decimal("0.0299999")) == 1499
