"""What calls cost."""

from decimal import Decimal

import pytest

from entrance.model.prices import read_prices, shipped_prices
from entrance.model.tokens import Tokens

OPUS, HAIKU = "anthropic:claude-opus-5-5", "anthropic:claude-haiku-5-5"
MILLION = 1_000_000
LIMITS = "max_output_tokens: 1, context_tokens: 1, "
FOUR = "output: 1, cache_read: 1, cache_write: 1, cache_write_long: 1"


@pytest.mark.parametrize(
    ("tokens", "usd"),
    [
        (Tokens(input=MILLION), "4"),
        (Tokens(output=MILLION), "20"),
        (Tokens(cache_read=MILLION), "0.2"),
        (Tokens(cache_write=MILLION), "5"),
        (Tokens(cache_write_long=MILLION), "8"),
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
    assert prices.cost("anthropic:claude-unheard-of", Tokens(1000)) == 0


@pytest.mark.parametrize(
    ("model", "tokens", "usd"),
    [
        pytest.param("openai:gpt-6.1-sol", Tokens(100_000), "0.2", id="openai input"),
        pytest.param("openai:gpt-6.1-sol", Tokens(0, 0, 272_000), "0.0272", id="openai cached"),
        pytest.param("openai:gpt-6.1-sol", Tokens(0, 0, 0, 100_000), "0.25", id="openai written"),
        pytest.param("openai:gpt-6.1-sol", Tokens(272_001, 1000), "1.103004", id="openai long"),
        pytest.param("google:gemini-2.5-pro", Tokens(100_000, 1000), "0.135", id="google short"),
        pytest.param("google:gemini-2.5-pro", Tokens(1, 1000, 200_000), "0.0650025", id="long"),
    ],
)
def test_other_providers_have_their_prices(model: str, tokens: Tokens, usd: str) -> None:
    assert shipped_prices().cost(model, tokens) == Decimal(usd)


def test_every_shipped_model_costs_something_in_every_class_and_says_where_that_was_read() -> None:
    prices = shipped_prices()
    assert prices.models
    for model, price in prices.models.items():
        assert model.partition(":")[0] in prices.sources
        assert price.context_tokens >= price.max_output_tokens
        for one in (Tokens(1), Tokens(0, 1), Tokens(0, 0, 1), Tokens(0, 0, 0, 1)):
            assert prices.cost(model, one) > 0


def test_an_own_list_adds_rows_and_replaces_them() -> None:
    text = "models: {" + HAIKU + ": {" + LIMITS + "rates: [{input: 7, " + FOUR + "}]}}"
    both = shipped_prices().with_own(read_prices(text.replace(HAIKU, f'"{HAIKU}"')))
    assert both.cost(HAIKU, Tokens(MILLION)) == 7
    assert both.cost(OPUS, Tokens(MILLION)) == 4


@pytest.mark.parametrize(
    "text",
    [
        "models: {a: {" + LIMITS + "rates: [{input: 1}]}}",
        "models: {a: {" + LIMITS + "rates: []}}",
        "models: {a: {rates: [{input: 1, " + FOUR + "}]}}",
        "models: {a: [{input: 1, " + FOUR + "}]}",
        "models: {}\nmore: 1",
        "[]",
        "{",
        "models: {a: {" + LIMITS + "rates: [{input: -1, " + FOUR + "}]}}",
        "models: {a: {" + LIMITS + "rates: [{above_prompt_tokens: 1, input: 1, " + FOUR + "}]}}",
    ],
)
def test_a_list_that_is_not_whole_is_not_taken(text: str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        read_prices(text)


def test_what_is_wrong_in_a_list_is_said_with_its_place() -> None:
    with pytest.raises(ValueError, match=r"^models > a > max_output_tokens: Field required$"):
        read_prices("models: {a: {context_tokens: 1, rates: [{input: 1, " + FOUR + "}]}}")
