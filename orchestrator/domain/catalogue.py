"""The models that are known here: what they cost, whether they can be called, who may [pure].

Known are those with a price, and those that an engagement grants without one.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from entrance.model.prices import PriceList, Rates
from entrance.model.provider import Provider, dialect_of
from orchestrator.domain.team import Engagement


@dataclass(frozen=True, slots=True)
class Grant:
    """An engagement that grants a model. `unpriced`: it may be called without a price."""

    engagement: str
    project: str
    agent: str
    unpriced: bool


@dataclass(frozen=True, slots=True)
class Model:
    """One model. `missing`: what its provider needs before it can be called; empty when nothing."""

    name: str
    """`provider:model`."""
    dialect: str
    missing: str
    rates: Sequence[Rates]
    """None: it has no price, and its cost can't be bounded."""
    as_of: str
    """The day on which its price was read, or empty."""
    granted: Sequence[Grant]

    @property
    def provider(self) -> str:
        return self.name.partition(":")[0]

    @property
    def callable(self) -> bool:
        """Whether somebody's call of it would go out."""
        priced = bool(self.rates)
        return not self.missing and any(priced or grant.unpriced for grant in self.granted)


def catalogue(
    prices: PriceList,
    providers: Mapping[str, Provider],
    secrets: Collection[str],
    engagements: Iterable[Engagement],
) -> list[Model]:
    """Every model that is known, by name. `secrets`: the names of those that the vault keeps."""
    grants = sorted(_grants(engagements), key=lambda pair: pair[1].engagement)
    names = {*prices.models, *(name for name, _ in grants)}
    return [
        Model(
            name=name,
            dialect=_dialect(providers, name.partition(":")[0]),
            missing=_missing(providers.get(name.partition(":")[0]), secrets),
            rates=prices.models[name].rates if name in prices.models else (),
            as_of=_as_of(prices, name),
            granted=[grant for granted, grant in grants if granted == name],
        )
        for name in sorted(names)
    ]


def _grants(engagements: Iterable[Engagement]) -> Iterator[tuple[str, Grant]]:
    for one in engagements:
        for name in one.grants.models:
            yield name, Grant(one.id, one.project, one.bot, one.grants.unpriced_models)


def _dialect(providers: Mapping[str, Provider], name: str) -> str:
    return providers[name].dialect if name in providers else dialect_of(name)


def _missing(provider: Provider | None, secrets: Collection[str]) -> str:
    if provider is None:
        return "address"
    return "" if provider.secret in secrets else "key"


def _as_of(prices: PriceList, name: str) -> str:
    source = prices.sources.get(name.partition(":")[0])
    return source.as_of.isoformat() if source and name in prices.models else ""
