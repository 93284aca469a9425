"""Whether a run may call a model."""

from dataclasses import replace
from decimal import Decimal

import pytest

from entrance.decision import Allow, Deny
from entrance.model.budget import decide, too_little
from entrance.session import Envelope, RunId, Session, TaskId

SESSION = Session(
    RunId("r"),
    TaskId("P/T"),
    "P",
    "bot",
    "10.0.0.2",
    "h",
    models=frozenset({"p:m"}),
    budget_usd=Decimal(2),
)


def test_a_granted_model_may_be_called() -> None:
    assert decide(SESSION, "p:m", priced=True) == Allow()


@pytest.mark.parametrize(
    ("model", "priced", "said"),
    [
        pytest.param("p:n", True, "its models are: p:m", id="another model"),
        pytest.param("q:m", True, "not granted", id="another provider"),
        pytest.param("p:m", False, "no price", id="no price"),
    ],
)
def test_anything_else_is_refused_with_a_reason(*, model: str, priced: bool, said: str) -> None:
    decision = decide(SESSION, model, priced=priced)
    assert isinstance(decision, Deny)
    assert said in decision.reason


def test_a_model_without_a_price_is_called_where_the_engagement_allows_it() -> None:
    allowed = replace(SESSION, unpriced_models=True)
    assert decide(allowed, "p:m", priced=False) == Allow()
    assert isinstance(decide(allowed, "p:n", priced=False), Deny)


@pytest.mark.parametrize(
    ("envelope", "whose"),
    [
        (Envelope("run", SESSION.run, Decimal(2)), "run"),
        (Envelope("run", "its parent", Decimal(2)), "delegating run"),
        (Envelope("engagement", "E-1", Decimal(2)), "engagement"),
    ],
)
def test_an_empty_envelope_is_named_with_what_is_spent(envelope: Envelope, whose: str) -> None:
    denied = too_little(SESSION, envelope, Decimal("1.5"))
    assert f"the {whose}'s budget of $2.00" in denied.reason
    assert "$1.50 is spent" in denied.reason
