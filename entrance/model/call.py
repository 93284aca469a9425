"""One model call on its way: what has been seen of it, settled once when it ends, however it ends."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import structlog

from entrance.errors import Unavailable
from entrance.log.body_hash import BodyHash, hash_of_body
from entrance.log.records import Audit, Outcome, Traffic
from entrance.model.budgets import Budgets, Reservation
from entrance.model.dialects import Asked, Endpoint, StreamMeter
from entrance.model.dialects.trouble import Trouble
from entrance.model.ending import to_the_end
from entrance.model.prices import PriceList
from entrance.model.tokens import Tokens
from entrance.ports import Usage
from entrance.session import Session

log = structlog.get_logger()

STALLED_S = 20.0
"""A client that leaves a provider which has been silent for so long has lost its patience."""
_LEFT = frozenset({"cancelled", "client_left"})

TROUBLES: Mapping[str, Trouble] = {
    "broke_off": Trouble("cut", "The provider broke off; try again."),
    "no_key": Trouble(
        "credential",
        "The key for this provider is not set up for it; an operator has to look at it.",
    ),
    "packed_answer": Trouble(
        "provider_error",
        "The provider's answer is packed and can't be metered; it is not passed on.",
    ),
    "redirected": Trouble("provider_error", "The provider sends elsewhere; that is not followed."),
    "stalled": Trouble("stalled", "The provider fell silent; try again."),
    "too_large": Trouble("provider_error", "The provider's answer is too large."),
    "unreachable": Trouble("unreachable", "The provider can't be reached; try again."),
}
"""What can come of a call without a word from the provider, and how it is told."""


@dataclass(slots=True)
class Call:
    """What is known of a call that was allowed.

    `decided`: waits until its decision is on the disk; the decision's number in the audit. Nothing of
    the call leaves before. Raises: Unavailable.
    """

    session: Session
    model: str
    endpoint: Endpoint
    asked: Asked
    decided: Callable[[], Awaitable[int]]
    reservation: Reservation
    result: str = "cancelled"
    """What came of it, in a word; stands as it is when the client left before anything did."""
    status: int = 0
    """The provider's status; 0 while it has not answered."""
    request_id: str = ""
    retry_after: str = ""
    """When the provider wants to be asked again: seconds or an HTTP date."""
    trouble: Trouble | None = None
    """What went wrong, if something did."""
    waits_since: float | None = None
    """Since when the provider's next word is waited for, in the clock's seconds."""
    sent: bool = False
    """Whether the request went to the provider, who may bill it from then on."""
    left: bool = False
    """Whether any of it may have left, whatever came of that."""
    came: BodyHash = field(default_factory=BodyHash, repr=False)
    """What the provider answered, as it came."""
    tokens: Tokens | None = None
    meter: StreamMeter | None = field(default=None, repr=False)

    async def leave(self) -> None:
        """Return when it may leave, which it does then. Raises: Unavailable."""
        await self.decided()
        self.sent = self.left = True

    def used(self) -> tuple[Tokens, bool]:
        """The tokens to be paid, and whether they are our estimate.

        A sandbox that hangs up before the usage is told must not get its call for nothing.
        """
        if not self.endpoint.metered or not self.sent or self.status >= 300:  # noqa: PLR2004 - HTTP
            return Tokens(), False
        if self.meter is not None:
            return self.meter.tokens, not self.meter.final
        return (self.tokens, False) if self.tokens else (self.asked.guess, True)

    def fail(self, word: str) -> str:
        """Take note of what went wrong, one of `TROUBLES`; returns how it is told."""
        self.result, self.trouble = word, TROUBLES[word]
        return self.trouble.message

    def told(self) -> dict[str, Any]:
        """What the record says of the provider's answer."""
        told: dict[str, Any] = {"status": self.status, "request_id": self.request_id}
        if self.retry_after:
            told["retry_after"] = self.retry_after
        if self.trouble:
            told |= {"trouble": self.trouble.kind, "message": self.trouble.message}
        return told


@dataclass(frozen=True, slots=True)
class Settler:
    """Adds a call to the run's spending and to the audit. `clock` counts seconds."""

    prices: PriceList
    budgets: Budgets
    audit: Audit
    clock: Callable[[], float]

    def affords(self, call: Call) -> bool:
        """Whether what a stream has used so far may be spent; the call holds that much then."""
        if call.meter is None or call.meter.final:
            return True
        cost = self.prices.cost(call.model, call.meter.tokens)
        return cost <= call.reservation.usd or self.budgets.grow(call.reservation, cost)

    async def settle(self, call: Call, started: float) -> None:
        """Count and record it, to the end, also when the client leaves while that goes on.

        Raises: Unavailable when either can't be done; both are tried. When the decision could not be
        recorded, nothing was sent, and there is neither.
        """
        await to_the_end(self._settle(call, started))

    async def _settle(self, call: Call, started: float) -> None:
        try:
            seq = await call.decided()
        except Unavailable:
            await self.budgets.settle(call.reservation, Usage())
            raise
        tokens, estimated = call.used()
        cost = self.prices.cost(call.model, tokens)
        usage = tokens.as_usage(cost) if tokens != Tokens() else Usage()
        lost: Unavailable | None = None
        try:
            await self.budgets.settle(call.reservation, usage)
        except Unavailable as error:
            log.warning("usage_not_counted", run=call.session.run, error=str(error))
            lost = error
        now = self.clock()
        waited_s = 0.0 if call.waits_since is None else now - call.waits_since
        if call.result in _LEFT and waited_s >= STALLED_S:
            call.trouble = TROUBLES["stalled"]
        detail = {
            **call.told(),
            "input_tokens": tokens.input,
            "output_tokens": tokens.output,
            "cache_read_tokens": usage.cache_read_tokens,
            "cache_write_tokens": usage.cache_write_tokens,
            "cost_usd": str(cost),
            "estimated": estimated,
            "counted": lost is None,
            "ms": round((now - started) * 1000),
        }
        sent = hash_of_body(call.asked.body) if call.left else BodyHash()
        moved = Traffic.of(sent, call.came, call.status)
        await self.audit.ended(Outcome(seq, call.result, detail, moved))
        if lost is not None:
            raise lost
