"""Whether a call goes out, and what for: grants and price, then its worst case held of every envelope."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from entrance.decision import Deny
from entrance.model.budget import BUSY, decide, too_little
from entrance.model.budgets import Budgets, Busy, Empty, Reservation
from entrance.model.dialects import Asked, Dialect, Endpoint
from entrance.model.envelope import Claim
from entrance.model.prices import PriceList
from entrance.model.worst import bound
from entrance.session import Session

_TRY_AGAIN_S = 5


@dataclass(frozen=True, slots=True)
class Admitted:
    """It goes out, as `asked`, and may cost what is reserved."""

    asked: Asked
    reservation: Reservation
    detail: Mapping[str, object]
    """What the record says about the decision."""


@dataclass(frozen=True, slots=True)
class Refused:
    """It does not go out. A dialect's `stop` is the end for its harness; 429 asks for patience."""

    status: int
    decision: Deny
    detail: Mapping[str, object]
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Judge:
    """Judges calls by what a session was granted and what is left of its money."""

    prices: PriceList
    budgets: Budgets

    async def judge(
        self, session: Session, model: str, dialect: Dialect, endpoint: Endpoint, asked: Asked
    ) -> Admitted | Refused:
        """Reserve what the call may cost; shorten its answer to what is left. Raises: Unavailable."""
        price = self.prices.models.get(model)
        detail: dict[str, object] = {
            "path": endpoint.path,
            "bytes": len(asked.body),
            "stream": asked.streams,
            "budget_usd": str(session.budget_usd),
        }
        decision = decide(session, model, priced=price is not None)
        if isinstance(decision, Deny):
            return Refused(dialect.stop, decision, detail)
        most = bound(price if endpoint.metered else None, asked)
        claim = most.claim
        held = await self.budgets.reserve(session, claim)
        detail["spent_usd"] = str(self.budgets.spent_usd(session))
        if not isinstance(held, Reservation):
            return _refused(session, held, claim, dialect, detail)
        detail["reserved_usd"] = str(held.usd)
        cap = most.output_within(held.usd)
        if cap is not None:
            detail["output_cap"] = cap
            asked = dialect.capped(asked, cap)
        return Admitted(asked, held, detail)


def _refused(
    session: Session,
    why: Empty | Busy,
    claim: Claim,
    dialect: Dialect,
    detail: Mapping[str, object],
) -> Refused:
    detail = {**detail, "least_usd": str(claim.least_usd)}
    match why:
        case Empty(envelope, spent_usd):
            told = {**detail, "refused": "budget", "envelope": f"{envelope.kind} {envelope.id}"}
            return Refused(dialect.stop, too_little(session, envelope, spent_usd), told)
        case Busy():
            headers = {"retry-after": str(_TRY_AGAIN_S)}
            return Refused(429, Deny(BUSY), {**detail, "refused": "busy"}, headers)
