"""The arithmetic of money that calls share: reserved before, settled after, never spent twice [pure].

RULES: what an account says is left was neither spent nor promised to a call in flight. Whoever
looks and takes must do both without giving way in between (see `budgets`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

ZERO = Decimal(0)


@dataclass(frozen=True, slots=True)
class Account:
    """What was spent of one envelope, and what calls in flight may still cost. US dollars."""

    spent_usd: Decimal = ZERO
    reserved_usd: Decimal = ZERO

    def left(self, limit_usd: Decimal) -> Decimal:
        """What may still be promised; below zero when something cost more than was promised."""
        return limit_usd - self.spent_usd - self.reserved_usd

    def reserve(self, usd: Decimal) -> "Account":
        """With `usd` promised to a call; the caller has looked at what is left."""
        return Account(self.spent_usd, self.reserved_usd + usd)

    def settle(self, reserved_usd: Decimal, cost_usd: Decimal) -> "Account":
        """With a promise taken back and the call's true cost spent: 0 when it came to nothing."""
        return Account(self.spent_usd + cost_usd, self.reserved_usd - reserved_usd)

    def seen(self, spent_usd: Decimal) -> "Account":
        """With what the store knows to be spent. Spending only grows, so the larger is the truth."""
        return self if spent_usd <= self.spent_usd else Account(spent_usd, self.reserved_usd)


@dataclass(frozen=True, slots=True)
class Claim:
    """What a call may cost: `worst_usd` at most as asked; with less than `least_usd` it is no use."""

    worst_usd: Decimal
    least_usd: Decimal


@dataclass(frozen=True, slots=True)
class Granted:
    """The call may cost so much, and no more."""

    usd: Decimal


@dataclass(frozen=True, slots=True)
class Wait:
    """Other calls in flight hold what it needs; when they end, it may fit."""


@dataclass(frozen=True, slots=True)
class Spent:
    """It will not fit, whatever the others do. `index`: the envelope that is too empty."""

    index: int


def draw(claim: Claim, pots: Sequence[tuple[Decimal, Account]]) -> Granted | Wait | Spent:
    """What a call gets out of all its envelopes, each given as its limit and its account.

    As much as it asks for, or all that there is if that is enough to be of use. It never takes the
    rest that others leave if it could have more once they end: it would be cut for their sake.
    """
    usd = claim.worst_usd
    for index, (limit, account) in enumerate(pots):
        alone = limit - account.spent_usd
        if alone < claim.least_usd or alone <= 0:
            return Spent(index)
        usd = min(usd, alone)
    waits = any(account.left(limit) < usd for limit, account in pots)
    return Wait() if waits else Granted(usd)
