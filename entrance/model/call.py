"""One model call on its way: what has been seen of it, settled once when it ends, however it ends."""

from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal

import structlog

from entrance.audit import Audit, Outcome
from entrance.errors import Unavailable
from entrance.model.budget import past
from entrance.model.dialects import Asked, Endpoint, StreamMeter
from entrance.model.prices import PriceList
from entrance.model.tokens import BYTES_PER_TOKEN, Tokens
from entrance.ports import Meter
from entrance.session import Session

log = structlog.get_logger()


@dataclass(slots=True)
class Call:
    """What is known of a call that was allowed: `seq` is its decision's number in the audit."""

    session: Session
    model: str
    endpoint: Endpoint
    asked: Asked
    seq: int
    spent_before_usd: Decimal
    result: str = "cancelled"
    """What came of it, in a word; stands as it is when the client left before anything did."""
    status: int = 0
    """The provider's status; 0 while it has not answered."""
    request_id: str = ""
    sent: bool = False
    """Whether the request went to the provider, who may bill it from then on."""
    tokens: Tokens | None = None
    meter: StreamMeter | None = field(default=None, repr=False)

    def used(self) -> tuple[Tokens, bool]:
        """The tokens to be paid, and whether they are our estimate.

        A sandbox that hangs up before the usage is told must not get its call for nothing.
        """
        if not self.endpoint.metered or not self.sent or self.status >= 300:  # noqa: PLR2004 - HTTP
            return Tokens(), False
        if self.meter is not None:
            told = self.meter.tokens
            return (told, not self.meter.final) if told else (self._guess(), True)
        return (self.tokens, False) if self.tokens else (self._guess(), True)

    def past_budget(self, prices: PriceList) -> bool:
        """Whether the run has nothing left, with what this call has used so far."""
        tokens = self.meter.tokens if self.meter else None
        cost = prices.cost(self.model, tokens) if tokens else Decimal(0)
        return bool(tokens) and past(self.session, self.spent_before_usd + cost)

    def _guess(self) -> Tokens:
        return Tokens(input=len(self.asked.body) // BYTES_PER_TOKEN)


@dataclass(frozen=True, slots=True)
class Settler:
    """Adds a call to the run's spending and to the audit. `clock` counts seconds."""

    prices: PriceList
    meter: Meter
    audit: Audit
    clock: Callable[[], float]

    async def settle(self, call: Call, started: float) -> None:
        """Count and record it. Raises: Unavailable when either can't be done; both are tried."""
        tokens, estimated = call.used()
        cost = self.prices.cost(call.model, tokens) if call.endpoint.metered else Decimal(0)
        trouble: Unavailable | None = None
        if tokens != Tokens():
            try:
                await self.meter.add(call.session.run, tokens.as_usage(cost))
            except Unavailable as error:
                log.warning("usage_not_counted", run=call.session.run, error=str(error))
                trouble = error
        detail = {
            "status": call.status,
            "request_id": call.request_id,
            "input_tokens": tokens.input,
            "output_tokens": tokens.output,
            "cache_read_tokens": tokens.cache_read,
            "cache_write_tokens": tokens.cache_write_5m + tokens.cache_write_1h,
            "cost_usd": str(cost),
            "estimated": estimated,
            "counted": trouble is None,
            "ms": round((self.clock() - started) * 1000),
        }
        await self.audit.came_of_it(Outcome(call.seq, call.result, detail))
        if trouble is not None:
            raise trouble
