"""The arithmetic of shared money."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from entrance.model.envelope import Account, Claim, Granted, Spent, Wait, draw

TWO = Decimal(2)


def usd(text: str) -> Decimal:
    return Decimal(text)


@pytest.mark.parametrize(
    ("worst", "least", "spent", "reserved", "drawn"),
    [
        pytest.param("1", "0.1", "0", "0", Granted(usd("1")), id="as much as it asks for"),
        pytest.param("2", "0.1", "0", "0", Granted(usd("2")), id="all that there is"),
        pytest.param(
            "5", "0.1", "0.5", "0", Granted(usd("1.5")), id="what is left, if it is of use"
        ),
        pytest.param("5", "1.6", "0.5", "0", Spent(0), id="what is left is of no use"),
        pytest.param("5", "0.1", "2", "0", Spent(0), id="nothing left"),
        pytest.param("5", "0.1", "3", "0", Spent(0), id="less than nothing left"),
        pytest.param("0", "0", "2", "0", Spent(0), id="even what is free, when nothing is left"),
        pytest.param("0", "0", "1.99", "0", Granted(usd("0")), id="what is free"),
        pytest.param("1", "0.1", "0", "1", Granted(usd("1")), id="beside another call"),
        pytest.param("1.5", "0.1", "0", "1", Wait(), id="another call holds what it needs"),
        pytest.param("5", "0.1", "0", "0.1", Wait(), id="it never takes the rest of others"),
        pytest.param("5", "1.6", "0.5", "1", Spent(0), id="of no use even when others end"),
    ],
)
def test_a_call_draws_what_it_may_cost(
    worst: str, least: str, spent: str, reserved: str, drawn: object
) -> None:
    pot = (TWO, Account(usd(spent), usd(reserved)))
    assert draw(Claim(usd(worst), usd(least)), [pot]) == drawn


@pytest.mark.parametrize(
    ("second", "drawn"),
    [
        pytest.param((TWO, Account()), Granted(usd("1")), id="both have it"),
        pytest.param((TWO, Account(usd("1.5"))), Granted(usd("0.5")), id="the emptier one counts"),
        pytest.param((TWO, Account(usd("1.95"))), Spent(1), id="the second is too empty"),
        pytest.param((TWO, Account(usd("0"), usd("1.5"))), Wait(), id="others hold the second"),
    ],
)
def test_a_call_must_fit_into_each_of_its_envelopes(
    second: tuple[Decimal, Account], drawn: object
) -> None:
    assert draw(Claim(usd("1"), usd("0.1")), [(TWO, Account()), second]) == drawn


def test_what_was_promised_is_given_back_and_what_was_used_is_spent() -> None:
    account = Account(usd("1")).reserve(usd("0.5"))
    assert account.left(TWO) == usd("0.5")
    assert account.settle(usd("0.5"), usd("0.2")) == Account(usd("1.2"))
    assert account.settle(usd("0.5"), usd("0")) == Account(usd("1"))


@given(st.lists(st.decimals(0, 100, places=4), max_size=20))
def test_news_from_the_store_never_make_spending_smaller(news: list[Decimal]) -> None:
    account = Account(usd("50"), usd("1"))
    for spent in news:
        account = account.seen(spent)
    assert account == Account(max([usd("50"), *news]), usd("1"))


AMOUNTS = st.decimals(min_value=0, max_value=3, places=4)


class Calls(RuleBasedStateMachine):
    """Calls that begin and end in any order, drawing on two envelopes at once."""

    def __init__(self) -> None:
        super().__init__()
        self.limits = (Decimal(5), Decimal(4))
        self.accounts = [Account(), Account()]
        self.held: list[Decimal] = []
        self.paid = Decimal(0)

    @rule(worst=AMOUNTS, least=AMOUNTS)
    def begins(self, worst: Decimal, least: Decimal) -> None:
        pots = list(zip(self.limits, self.accounts, strict=True))
        drawn = draw(Claim(max(worst, least), least), pots)
        if isinstance(drawn, Granted):
            self.accounts = [account.reserve(drawn.usd) for account in self.accounts]
            self.held.append(drawn.usd)

    @precondition(lambda self: self.held)
    @rule(which=st.integers(min_value=0), part=st.decimals(0, 1, places=3))
    def ends(self, which: int, part: Decimal) -> None:
        held = self.held.pop(which % len(self.held))
        self.accounts = [account.settle(held, held * part) for account in self.accounts]
        self.paid += held * part

    @invariant()
    def never_more_than_the_limit_is_spent_or_promised(self) -> None:
        for limit, account in zip(self.limits, self.accounts, strict=True):
            assert account.left(limit) >= 0
            assert account.reserved_usd == sum(self.held)
            assert account.spent_usd == self.paid


TestCalls = Calls.TestCase
