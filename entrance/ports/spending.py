"""What model calls cost, added up."""

from dataclasses import dataclass, field
from decimal import Decimal
from typing import Protocol

from entrance.session import Envelope, RunId


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one or many model calls, and what they cost in US dollars."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    cost_usd: Decimal = field(default_factory=Decimal)
    calls: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cache_read_tokens + other.cache_read_tokens,
            self.cache_write_tokens + other.cache_write_tokens,
            self.cost_usd + other.cost_usd,
            self.calls + other.calls,
        )


class Meter(Protocol):
    """Adds up what each run spends. What was added survives a crash of the process."""

    async def spent(self, run: RunId) -> Usage:
        """What the run has spent so far. Raises: Unavailable (then the call is refused)."""
        ...

    async def spent_of(self, envelope: Envelope) -> Decimal:
        """What all runs together have spent of an envelope, in US dollars. Raises: Unavailable."""
        ...

    async def add(self, run: RunId, usage: Usage, lender: str = "") -> None:
        """Add one call's usage. Raises: Unavailable.

        `lender`: the run whose envelope pays it too, and with it whoever lends to that one.
        """
        ...
