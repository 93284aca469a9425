"""What a call costs, from a dated list [pure, but for reading the file that lies beside it]."""

from datetime import date
from decimal import Decimal
from importlib.resources import files

import yaml
from pydantic import BaseModel, ConfigDict, Field, field_validator

from entrance.model.tokens import Tokens

_MILLION = Decimal(1_000_000)


class Rates(BaseModel):
    """US dollars per million tokens, for prompts longer than `above_prompt_tokens`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    above_prompt_tokens: int = Field(default=0, ge=0)
    input: Decimal = Field(ge=0)
    output: Decimal = Field(ge=0)
    cache_read: Decimal = Field(ge=0)
    cache_write_5m: Decimal = Field(ge=0)
    cache_write_1h: Decimal = Field(ge=0)

    def cost(self, tokens: Tokens) -> Decimal:
        """US dollars for these tokens at these rates."""
        return (
            self.input * tokens.input
            + self.output * tokens.output
            + self.cache_read * tokens.cache_read
            + self.cache_write_5m * tokens.cache_write_5m
            + self.cache_write_1h * tokens.cache_write_1h
        ) / _MILLION


class PriceList(BaseModel):
    """Prices by `provider:model`, as they were on a day."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    as_of: date
    source: str
    models: dict[str, tuple[Rates, ...]]

    def knows(self, model: str) -> bool:
        """Whether the model has a price."""
        return model in self.models

    def cost(self, model: str, tokens: Tokens) -> Decimal:
        """US dollars for one call. Raises: KeyError when the model has no price."""
        fitting = (
            row
            for row in self.models[model]
            if not row.above_prompt_tokens or row.above_prompt_tokens < tokens.prompt
        )
        return max(fitting, key=lambda row: row.above_prompt_tokens).cost(tokens)

    @field_validator("models")
    @classmethod
    def _each_has_a_base(cls, models: dict[str, tuple[Rates, ...]]) -> dict[str, tuple[Rates, ...]]:
        for model, rows in models.items():
            if not any(row.above_prompt_tokens == 0 for row in rows):
                raise ValueError(f"{model} has no price for short prompts")
        return models


def read_prices(text: str) -> PriceList:
    """A price list in YAML. Raises: ValueError on anything that is not one."""
    # Numbers are read as text: 0.1 as a float is not a tenth.
    try:
        data = yaml.load(text, Loader=yaml.BaseLoader)  # noqa: S506 - it makes nothing but text
    except yaml.YAMLError as error:
        raise ValueError(f"the price list is no YAML: {error}") from error
    return PriceList.model_validate(data)


def shipped_prices() -> PriceList:
    """The list that comes with Sandgate."""
    return read_prices(files("entrance.model").joinpath("prices.yaml").read_text("utf-8"))
