"""What a call costs, from a dated list [pure, but for reading the file that lies beside it]."""

from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from functools import cache
from importlib.resources import files

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from entrance.model.tokens import Tokens

MILLION = Decimal(1_000_000)


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


class Rates(_Part):
    """US dollars per million tokens, for prompts longer than `above_prompt_tokens`."""

    above_prompt_tokens: int = Field(default=0, ge=0)
    input: Decimal = Field(ge=0)
    output: Decimal = Field(ge=0)
    cache_read: Decimal = Field(ge=0)
    cache_write: Decimal = Field(ge=0)
    """The same as `input` where writing to the cache costs nothing more."""
    cache_write_long: Decimal = Field(ge=0)

    def cost(self, tokens: Tokens) -> Decimal:
        """US dollars for these tokens at these rates."""
        return (
            self.input * tokens.input
            + self.output * tokens.output
            + self.cache_read * tokens.cache_read
            + self.cache_write * tokens.cache_write
            + self.cache_write_long * tokens.cache_write_long
        ) / MILLION


class Price(_Part):
    """One model: its rates, and the limits that bound what a call can cost."""

    max_output_tokens: int = Field(ge=1)
    """The most that one answer can have, reasoning included."""
    context_tokens: int = Field(ge=1)
    """The most that one prompt can have."""
    rates: tuple[Rates, ...]

    def rates_for(self, prompt_tokens: int) -> Rates:
        """The rates of a call with a prompt so long."""
        fitting = (
            row
            for row in self.rates
            if not row.above_prompt_tokens or row.above_prompt_tokens < prompt_tokens
        )
        return max(fitting, key=lambda row: row.above_prompt_tokens)

    @model_validator(mode="after")
    def _has_a_base(self) -> "Price":
        if not any(row.above_prompt_tokens == 0 for row in self.rates):
            raise ValueError("there is no price for short prompts")
        return self


class Source(_Part):
    """Where a provider's prices were read, and when."""

    url: str
    as_of: date


class PriceList(_Part):
    """Prices by `provider:model`, as they were on a day."""

    sources: Mapping[str, Source] = Field(default_factory=dict)
    """By provider."""
    models: Mapping[str, Price]

    def knows(self, model: str) -> bool:
        """Whether the model has a price."""
        return model in self.models

    def cost(self, model: str, tokens: Tokens) -> Decimal:
        """US dollars for one call; nothing for a model without a price (see `Session`)."""
        price = self.models.get(model)
        return price.rates_for(tokens.prompt).cost(tokens) if price else Decimal(0)

    def with_own(self, own: "PriceList") -> "PriceList":
        """This list, with another's rows added or in the place of its own."""
        return PriceList(
            sources={**self.sources, **own.sources}, models={**self.models, **own.models}
        )


def read_prices(text: str) -> PriceList:
    """A price list in YAML. Raises: ValueError that says what is wrong in it, and where."""
    # Numbers are read as text: 0.1 as a float is not a tenth.
    try:
        data = yaml.load(text, Loader=yaml.CBaseLoader)  # noqa: S506 - it makes nothing but text
    except yaml.YAMLError as error:
        raise ValueError(f"the price list is no YAML: {error}") from error
    try:
        return PriceList.model_validate(data)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False, include_context=False)[0]
        where = " > ".join(str(part) for part in first["loc"])
        raise ValueError(f"{where or 'the list'}: {first['msg']}") from error


@cache
def shipped_prices() -> PriceList:
    """The list that comes with Sandgate."""
    return read_prices(files("entrance.model").joinpath("prices.yaml").read_text("utf-8"))
