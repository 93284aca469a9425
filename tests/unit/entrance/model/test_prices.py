"""What calls cost."""

from decimal import Decimal

import pytest

from entrance.model.prices import read_prices, shipped_prices
from entrance.model.tokens import Tokens

OPUS, HAIKU = "anthropic:claude-opus-5-5", "anthropic:claude-haiku-5-5"
MILLION = 1_000_000
HEAD = "as_of: 2026-01-01\nsource: x\n"
WRITES = "cache_write_5m: 1, cache_write_1h: 1"


@pytest.mark.parametrize(
    ("tokens", "usd"),
    [
        (Tokens(input=MILLION), "4"),
        (Tokens(output=MILLION), "20"),
        (Tokens(cache_read=MILLION), "0.2"),
        (Tokens(cache_write_5m=MILLION), "5"),
        (Tokens(cache_write_1h=MILLION), "8"),
        (Tokens(100, 10, 50, 15, 5), "0.000725"),
        (Tokens(), "0"),
    ],
)
def test_each_class_of_tokens_has_its_price(tokens: Tokens, usd: str) -> None:
    assert shipped_prices().cost(OPUS, tokens) == Decimal(usd)


def test_a_long_prompt_changes_the_price_of_the_whole_call() -> None:
    prices = shipped_prices()
    short, long = Tokens(100_000, 1000), Tokens(1, 1000, cache_read=100_000)
    assert prices.cost(HAIKU, short) == Decimal("0.0105")
    assert prices.cost(HAIKU, long) == Decimal("0.0075005")


def test_an_unknown_model_has_no_price() -> None:
    prices = shipped_prices()
    assert not prices.knows("anthropic:claude-unheard-of")
    with pytest.raises(KeyError):
        prices.cost("anthropic:claude-unheard-of", Tokens())


def test_every_shipped_model_costs_something_in_every_class() -> None:
    prices = shipped_prices()
    assert prices.models
    for model in prices.models:
        for one in (Tokens(1), Tokens(0, 1), Tokens(0, 0, 1), Tokens(0, 0, 0, 1)):
            assert prices.cost(model, one) > 0


@pytest.mark.parametrize(
    "text",
    [
        "models: {}",
        "as_of: 2026-01-01\nsource: x\nmodels: {a: [{input: 1}]}",
        "as_of: 2026-01-01\nsource: x\nmodels: {a: []}",
        "as_of: 2026-01-01\nsource: x\nmodels: {}\nmore: 1",
        "[]",
        "{",
        HEAD + "models: {a: [{input: -1, output: 1, cache_read: 1, " + WRITES + "}]}",
        HEAD
        + "models: {a: [{above_prompt_tokens: 1, input: 1, output: 1, cache_read: 1, "
        + WRITES
        + "}]}",
    ],
)
def test_a_list_that_is_not_whole_is_not_taken(text: str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        read_prices(text)
