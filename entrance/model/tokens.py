"""The tokens of one call, in the classes that have prices of their own [pure]."""

from dataclasses import dataclass
from decimal import Decimal

from entrance.ports import Usage

BYTES_PER_TOKEN = 4
"""For estimates only: what a call has used before the provider says so."""


@dataclass(frozen=True, slots=True)
class Tokens:
    """`input` is what was neither read from the cache nor written to it.

    A cache that lives longer can cost more to write: an hour at Anthropic, half a day at OpenAI.
    Reasoning is output.
    """

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    cache_write_long: int = 0

    @property
    def prompt(self) -> int:
        """The whole prompt, cached or not: what long-prompt prices look at."""
        return self.input + self.cache_read + self.cache_write + self.cache_write_long

    def __add__(self, other: "Tokens") -> "Tokens":
        return Tokens(
            self.input + other.input,
            self.output + other.output,
            self.cache_read + other.cache_read,
            self.cache_write + other.cache_write,
            self.cache_write_long + other.cache_write_long,
        )

    def as_usage(self, cost_usd: Decimal) -> Usage:
        """As one metered call."""
        return Usage(
            input_tokens=self.input,
            output_tokens=self.output,
            cache_read_tokens=self.cache_read,
            cache_write_tokens=self.cache_write + self.cache_write_long,
            cost_usd=cost_usd,
            calls=1,
        )


def tokens_in(size_bytes: int) -> int:
    """An estimate of the tokens in a text, rounded up."""
    return -(-size_bytes // BYTES_PER_TOKEN)
