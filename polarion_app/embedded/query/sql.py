"""The whole condition of a query [pure]."""

from datetime import datetime
from typing import assert_never

from polarion_app.config.model import DataModel
from polarion_app.embedded.query.fields import ALWAYS, Condition, Fields
from polarion_app.embedded.query.lucene import read
from polarion_app.embedded.query.terms import And, HasValue, Not, Or, Query, Range, Term


def condition(text: str, model: DataModel, now: datetime) -> Condition:
    """What rows of `work_item AS w` must fulfil.

    Raises: BadQuery.
    """
    query = read(text)
    return ALWAYS if query is None else _condition(query, Fields(model, now))


def joined(conditions: tuple[Condition, ...], operator: str) -> Condition:
    """All conditions under one operator, as a balanced tree: SQLite limits an expression's depth."""
    if len(conditions) == 1:
        return conditions[0]
    middle = len(conditions) // 2
    left, right = joined(conditions[:middle], operator), joined(conditions[middle:], operator)
    return Condition(f"({left.sql} {operator} {right.sql})", left.values + right.values)


def _condition(query: Query, fields: Fields) -> Condition:
    match query:
        case Term():
            return fields.term(query)
        case Range():
            return fields.range(query)
        case HasValue():
            return fields.has_value(query)
        case Not(term):
            inner = _condition(term, fields)
            return Condition(f"NOT ({inner.sql})", inner.values)
        case And(terms):
            return joined(tuple(_condition(term, fields) for term in terms), "AND")
        case Or(terms):
            return joined(tuple(_condition(term, fields) for term in terms), "OR")
        case _:
            assert_never(query)
