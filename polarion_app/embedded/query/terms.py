"""What a query means [pure]: a tree of these. `field` is None for free text."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Term:
    """The field holds this value. `prefix`: it may go on after it (a trailing `*`)."""

    field: str | None
    value: str
    prefix: bool = False
    phrase: bool = False


@dataclass(frozen=True, slots=True)
class Range:
    """The field lies between the two; None is an open end."""

    field: str
    low: str | None
    high: str | None
    include_low: bool = True
    include_high: bool = True


@dataclass(frozen=True, slots=True)
class HasValue:
    """The field is not empty."""

    field: str


@dataclass(frozen=True, slots=True)
class Not:
    term: "Query"


@dataclass(frozen=True, slots=True)
class And:
    terms: tuple["Query", ...]


@dataclass(frozen=True, slots=True)
class Or:
    terms: tuple["Query", ...]


Query = Term | Range | HasValue | Not | And | Or


class BadQuery(ValueError):
    """The query can't be read or is not supported; the message says why."""
