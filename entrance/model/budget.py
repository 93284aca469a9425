"""Whether a run may call a model at all [pure]. What it may cost is up to its envelopes."""

from decimal import Decimal

from entrance.decision import Allow, Decision, Deny
from entrance.session import Envelope, Session

_WHOSE = {"run": "delegating run", "engagement": "engagement"}
BUSY = "all that is left of the budget is held by calls under way; try again when they are over"


def decide(session: Session, model: str, *, priced: bool) -> Decision:
    """Say whether the session may call `model` (`provider:model`)."""
    if model not in session.models:
        mine = ", ".join(sorted(session.models)) or "none"
        return Deny(f"the model {model} was not granted to this run; its models are: {mine}")
    if not priced and not session.unpriced_models:
        return Deny(f"the model {model} has no price here, so its cost can't be bounded")
    return Allow()


def too_little(session: Session, envelope: Envelope, spent_usd: Decimal) -> Deny:
    """The refusal of a call that an envelope of the session can't pay."""
    whose = "run" if envelope.id == session.run else _WHOSE[envelope.kind]
    return Deny(
        f"the {whose}'s budget of ${envelope.limit_usd:.2f} can't pay this call:"
        f" ${spent_usd:.2f} is spent; end here, a person can raise it"
    )
