"""Reads the text of a query into `terms` [pure]. luqum parses; this file knows Polarion's rules.

A bare space between two terms means AND, inside `field:(...)` it means OR, as in `id:(A-1 A-2)`.
"""

import re
import warnings
from collections.abc import Callable

from polarion_app.embedded.query.terms import And, BadQuery, HasValue, Not, Or, Query, Range, Term

with warnings.catch_warnings():
    # luqum's parser generator may rewrite its table file at the first import, and leaves it open.
    warnings.simplefilter("ignore", ResourceWarning)
    from luqum import tree  # type: ignore[import-untyped]
    from luqum.exceptions import ParseError  # type: ignore[import-untyped]
    from luqum.thread import parse  # type: ignore[import-untyped]

MAX_LENGTH = 8192
MAX_DEPTH = 50
MAX_TERMS = 1000
_ESCAPED = re.compile(r"\\(.)")


def read(text: str) -> Query | None:
    """The query's meaning; None for an empty one (everything).

    Raises: BadQuery.
    """
    if not text.strip():
        return None
    if len(text) > MAX_LENGTH:
        raise BadQuery(f"The query is longer than {MAX_LENGTH} characters.")
    if text.lstrip().upper().startswith("SQL:"):
        raise BadQuery("SQL queries are not supported by this server.")
    try:
        parsed = parse(text)
    except (ParseError, ValueError) as error:
        raise BadQuery(f"Cannot parse the query: {error}") from error
    except RecursionError as error:
        raise BadQuery("The query is nested too deeply.") from error
    return _Reader().read(parsed, None, 0)


class _Reader:
    """One reading; counts terms, so that no query becomes an endless condition."""

    def __init__(self) -> None:
        self._terms = 0

    def read(self, node: tree.Item, field: str | None, depth: int) -> Query:
        self._terms += 1
        if depth > MAX_DEPTH or self._terms > MAX_TERMS:
            raise BadQuery("The query is nested too deeply or has too many terms.")
        for kind, reader in _READERS:
            if isinstance(node, kind):
                return reader(self, node, field, depth + 1)
        raise BadQuery(f"'{type(node).__name__}' is not supported in a query.")

    def all_of(self, node: tree.Item, field: str | None, depth: int) -> Query:
        return And(self._children(node, field, depth))

    def any_of(self, node: tree.Item, field: str | None, depth: int) -> Query:
        return Or(self._children(node, field, depth))

    def side_by_side(self, node: tree.Item, field: str | None, depth: int) -> Query:
        children = self._children(node, field, depth)
        return And(children) if field is None else Or(children)

    def negated(self, node: tree.Item, field: str | None, depth: int) -> Query:
        return Not(self.read(node.children[0], field, depth))

    def inside(self, node: tree.Item, field: str | None, depth: int) -> Query:
        return self.read(node.children[0], field, depth)

    def named(self, node: tree.Item, field: str | None, depth: int) -> Query:
        name, inner = str(node.name), node.expr
        if field is not None or isinstance(inner, tree.SearchField):
            raise BadQuery(f"Put the value of '{field or name}' in quotes: it holds a colon.")
        if name.upper() == "HAS_VALUE":
            return HasValue(_word(inner))
        return self.read(inner, name, depth)

    def word(self, node: tree.Item, field: str | None, depth: int) -> Query:
        del depth
        return _term(field, str(node.value))

    def phrase(self, node: tree.Item, field: str | None, depth: int) -> Query:
        del depth
        return Term(field, _unescape(str(node.value)[1:-1]), phrase=True)

    def between(self, node: tree.Item, field: str | None, depth: int) -> Query:
        del depth
        if field is None:
            raise BadQuery("A range needs a field: 'field:[a TO b]'.")
        return Range(
            field, _end(node.low), _end(node.high), bool(node.include_low), bool(node.include_high)
        )

    def _children(self, node: tree.Item, field: str | None, depth: int) -> tuple[Query, ...]:
        return tuple(self.read(child, field, depth) for child in node.children)


_READERS: tuple[tuple[type, Callable[[_Reader, tree.Item, str | None, int], Query]], ...] = (
    (tree.AndOperation, _Reader.all_of),
    (tree.OrOperation, _Reader.any_of),
    (tree.UnknownOperation, _Reader.side_by_side),
    (tree.Not, _Reader.negated),
    (tree.Prohibit, _Reader.negated),
    (tree.Plus, _Reader.inside),
    (tree.Boost, _Reader.inside),
    (tree.Group, _Reader.inside),
    (tree.FieldGroup, _Reader.inside),
    (tree.SearchField, _Reader.named),
    (tree.Phrase, _Reader.phrase),
    (tree.Word, _Reader.word),
    (tree.Range, _Reader.between),
)


def _term(field: str | None, raw: str) -> Query:
    if raw == "*" and field is not None:
        return HasValue(field)
    if raw.startswith(("*", "?")):
        raise BadQuery(f"'*' or '?' not allowed as first character in '{raw}'.")
    if raw in ("&&", "||", "!"):
        raise BadQuery(f"Write AND, OR and NOT instead of '{raw}'.")
    prefix = raw.endswith("*") and not raw.endswith("\\*")
    body = raw[:-1] if prefix else raw
    if re.search(r"(?<!\\)[*?]", body):
        raise BadQuery(f"A wildcard is supported at the end of a value only, not in '{raw}'.")
    return Term(field, _unescape(body), prefix=prefix)


def _word(node: tree.Item) -> str:
    if not isinstance(node, tree.Word):
        raise BadQuery("HAS_VALUE needs the name of a field.")
    return _unescape(str(node.value))


def _end(node: tree.Item) -> str | None:
    value = str(node.value)
    if value == "*":
        return None
    return _unescape(value[1:-1] if isinstance(node, tree.Phrase) else value)


def _unescape(text: str) -> str:
    return _ESCAPED.sub(r"\1", text)
