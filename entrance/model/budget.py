"""Whether a run may make a model call, and whether one that streams has gone too far [pure].

Worst-case reservations (design decision 8) come in by `reserved_usd`: what the run's calls in
flight may still cost.
"""

from decimal import Decimal

from entrance.decision import Allow, Decision, Deny
from entrance.session import Session


def decide(
    session: Session,
    model: str,
    *,
    priced: bool,
    spent_usd: Decimal,
    reserved_usd: Decimal = Decimal(0),
) -> Decision:
    """Say whether the session may call `model` (`provider:model`) now."""
    if model not in session.models:
        mine = ", ".join(sorted(session.models)) or "none"
        return Deny(f"the model {model} was not granted to this run; its models are: {mine}")
    if not priced:
        return Deny(f"the model {model} has no price here, so its cost can't be bounded")
    if past(session, spent_usd + reserved_usd):
        return Deny(
            f"the run's budget of ${session.budget_usd:.2f} is spent (${spent_usd:.2f});"
            " end here, a person can raise it"
        )
    return Allow()


def past(session: Session, spent_usd: Decimal) -> bool:
    """Whether nothing is left of the run's budget."""
    return spent_usd >= session.budget_usd
