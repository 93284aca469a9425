"""What was metered against what was served."""

from typing import Any

import pytest

from entrance.model.prices import read_prices
from orchestrator.cli.demo_bill import bill_of

PRICES = read_prices("""
models:
  "openai:big":
    max_output_tokens: 1000
    context_tokens: 1000000
    rates:
      - {input: 2, output: 10, cache_read: 0.1, cache_write: 2.5, cache_write_long: 5}
      - above_prompt_tokens: 272000
        input: 4
        output: 15
        cache_read: 0.2
        cache_write: 5
        cache_write_long: 9
""")
ANSWER = {
    "model": "big",
    "whole": True,
    "input_tokens": 100,
    "output_tokens": 20,
    "cache_read_tokens": 1000,
    "cache_write_tokens": 10,
    "reasoning_tokens": 5,
}
FAILED = {**ANSWER, **dict.fromkeys([name for name in ANSWER if name.endswith("tokens")], 0)}
SPENT = {
    "input_tokens": 200,
    "output_tokens": 40,
    "cache_read_tokens": 2000,
    "cache_write_tokens": 20,
    "calls": 2,
    "cost_usd": "0.0010500",
}


def equal(*answers: Any, **spent: Any) -> bool:
    return bill_of({**SPENT, **spent}, answers, PRICES, "openai").equal


def test_the_same_tokens_calls_and_cost_are_equal_and_failures_are_not_billed() -> None:
    assert equal(ANSWER, FAILED, ANSWER)


@pytest.mark.parametrize(
    "spent",
    [{name: count + 1} for name, count in SPENT.items() if isinstance(count, int)]
    + [{"cost_usd": "0.00105001"}],
)
def test_one_token_more_or_less_is_not_equal(spent: dict[str, Any]) -> None:
    assert not equal(ANSWER, ANSWER, **spent)


def test_each_answer_has_the_price_of_its_own_length() -> None:
    """A long prompt costs more a token: the sum of many short ones is no long one."""
    long = {**ANSWER, "input_tokens": 300_000}
    bill = bill_of(SPENT, [long], PRICES, "openai")
    many = bill_of(SPENT, [{**ANSWER, "input_tokens": 100_000}] * 3, PRICES, "openai")
    assert bill.served.cost_usd > many.served.cost_usd
