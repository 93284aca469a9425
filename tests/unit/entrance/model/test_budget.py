"""Whether a run may call a model."""

from decimal import Decimal

import pytest

from entrance.decision import Allow, Deny
from entrance.model.budget import decide, past
from entrance.session import RunId, Session, TaskId

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


def test_a_granted_model_with_money_left_may_be_called() -> None:
    assert decide(SESSION, "p:m", priced=True, spent_usd=Decimal("1.99")) == Allow()


@pytest.mark.parametrize(
    ("model", "priced", "spent", "reserved", "said"),
    [
        pytest.param("p:n", True, "0", "0", "its models are: p:m", id="another model"),
        pytest.param("q:m", True, "0", "0", "not granted", id="another provider"),
        pytest.param("p:m", False, "0", "0", "no price", id="no price"),
        pytest.param("p:m", True, "2", "0", "budget of $2.00 is spent", id="all spent"),
        pytest.param("p:m", True, "1", "1", "budget", id="all spent or reserved"),
    ],
)
def test_anything_else_is_refused_with_a_reason(
    *, model: str, priced: bool, spent: str, reserved: str, said: str
) -> None:
    decision = decide(
        SESSION, model, priced=priced, spent_usd=Decimal(spent), reserved_usd=Decimal(reserved)
    )
    assert isinstance(decision, Deny)
    assert said in decision.reason


def test_a_budget_of_nothing_is_past_from_the_start() -> None:
    broke = Session(RunId("r"), TaskId("P/T"), "P", "bot", "10.0.0.2", "h")
    assert past(broke, Decimal(0))
