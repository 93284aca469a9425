"""What a call can cost at most, before it is made [pure].

The prompt is bounded by its bytes and the model's context, the answer by the request or the model.
Both are dear on purpose: what is not used is given back when the call ends.
"""

from dataclasses import dataclass
from decimal import ROUND_FLOOR, Decimal

from entrance.model.dialects import Asked
from entrance.model.envelope import ZERO, Claim
from entrance.model.prices import MILLION, Price

WORST_BYTES_PER_TOKEN = 2
"""Few texts have shorter tokens than this, on average: identifiers in hex, some scripts."""
WORST_IMAGE_TOKENS = 12_000
"""More than any provider counts for one picture, however large."""
LEAST_OUTPUT = 1024
"""An answer that must be shorter than this is not worth its prompt."""


@dataclass(frozen=True, slots=True)
class Bound:
    """The claim, and what its answer part was reckoned with."""

    claim: Claim
    prompt_usd: Decimal = ZERO
    output_usd: Decimal = ZERO
    """For one token."""
    output_tokens: int = 0
    """The most that the answer can have."""

    def output_within(self, usd: Decimal) -> int | None:
        """How long the answer may get for `usd` altogether; None when nothing has to be said."""
        if usd >= self.claim.worst_usd:
            return None
        return int(((usd - self.prompt_usd) / self.output_usd).to_integral_value(ROUND_FLOOR))


def bound(price: Price | None, asked: Asked) -> Bound:
    """What a call can cost; nothing for one that is free or has no price."""
    if price is None:
        return Bound(Claim(ZERO, ZERO))
    prompt = min(_prompt_tokens(asked), price.context_tokens)
    rates = price.rates_for(prompt)
    writes = {"no": rates.input, "yes": rates.cache_write, "long": rates.cache_write_long}
    prompt_usd = prompt * max(rates.input, rates.cache_read, writes[asked.caches]) / MILLION
    output_usd = rates.output / MILLION
    most = price.max_output_tokens if asked.max_output is None else asked.max_output
    least = min(most, max(LEAST_OUTPUT, asked.least_output))
    claim = Claim(prompt_usd + most * output_usd, prompt_usd + least * output_usd)
    return Bound(claim, prompt_usd, output_usd, most)


def _prompt_tokens(asked: Asked) -> int:
    text = max(0, len(asked.body) - asked.image_bytes)
    by_count = asked.images * WORST_IMAGE_TOKENS
    return -(-text // WORST_BYTES_PER_TOKEN) + min(by_count, asked.image_bytes)
