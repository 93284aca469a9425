"""The models that are known: with their prices, what is missing, and who may call them."""

from dataclasses import replace
from decimal import Decimal

import pytest

from entrance.model.prices import Price, PriceList, Rates, Source
from entrance.model.provider import Provider
from orchestrator.domain.catalogue import Model, catalogue
from orchestrator.domain.team import Engagement, Grants
from tests.fakes.world import ENGAGEMENT

RATES = Rates(
    input=Decimal(2), output=Decimal(10), cache_read=Decimal("0.1"), cache_write=Decimal(2),
    cache_write_long=Decimal(2),
)  # fmt: skip
PRICE = Price(max_output_tokens=100, context_tokens=1000, rates=(RATES,))
PRICES = PriceList.model_validate(
    {
        "sources": {"a": Source.model_validate({"url": "https://a", "as_of": "2026-11-01"})},
        "models": {"a:one": PRICE, "b:two": PRICE},
    }
)
A = Provider("a", "https://a.example", "key-a", "openai")


def granting(*models: str, unpriced: bool = False) -> Engagement:
    grants = Grants(models=frozenset(models), unpriced_models=unpriced)
    return replace(ENGAGEMENT, grants=grants)


def known(*engagements: Engagement, secrets: frozenset[str] = frozenset()) -> dict[str, Model]:
    return {one.name: one for one in catalogue(PRICES, {"a": A}, secrets, engagements)}


def test_a_model_with_a_price_is_known_and_its_provider_looked_at() -> None:
    found = known()
    assert list(found) == ["a:one", "b:two"]
    assert (found["a:one"].dialect, found["a:one"].missing) == ("openai", "key")
    assert (found["b:two"].dialect, found["b:two"].missing) == ("anthropic", "address")
    assert known(secrets=frozenset({"key-a"}))["a:one"].missing == ""
    assert (found["a:one"].as_of, found["b:two"].as_of) == ("2026-11-01", "")
    assert found["a:one"].rates == (RATES,)


def test_who_may_call_it_is_told_by_engagement() -> None:
    other = replace(granting("a:one"), id="DEMO/DEMO-0", bot="bot-max")
    grants = known(granting("a:one"), other)["a:one"].granted
    assert [(one.engagement, one.agent) for one in grants] == [
        ("DEMO/DEMO-0", "bot-max"),
        ("DEMO/DEMO-1", "bot-rex"),
    ]


def test_a_model_without_a_price_is_known_if_it_is_granted() -> None:
    model = known(granting("a:odd"))["a:odd"]
    assert (model.provider, model.rates, model.as_of) == ("a", (), "")


@pytest.mark.parametrize(
    ("engagement", "secrets", "goes_out"),
    [
        (granting("a:one"), {"key-a"}, True),
        (granting("a:one"), set(), False),
        (granting("b:two"), {"key-a"}, False),
        (granting("a:odd"), {"key-a"}, False),
        (granting("a:odd", unpriced=True), {"key-a"}, True),
    ],
)
def test_a_call_goes_out_if_it_is_granted_priced_and_the_provider_is_there(
    engagement: Engagement, secrets: set[str], *, goes_out: bool
) -> None:
    [name] = engagement.grants.models
    assert known(engagement, secrets=frozenset(secrets))[name].callable is goes_out
