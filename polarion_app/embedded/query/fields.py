"""How one field is compared in SQL [pure]. Rows are `work_item AS w`; values are always bound."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from polarion_app.config.model import FIELD_NAME, DataModel
from polarion_app.embedded.query.dates import span
from polarion_app.embedded.query.terms import BadQuery, HasValue, Range, Term

COLUMNS = {
    "type": "w.type",
    "status": "w.status",
    "author": "w.author",
    "author.id": "w.author",
    "project": "w.project",
    "project.id": "w.project",
}
TIMES = {"created": "w.created", "updated": "w.updated"}
NOT_INDEXED = frozenset({"description", "module", "module.id"})
REFERENCES = frozenset({"assignee", "watches", "votes", "categories"})
DATE_ATTRIBUTES = frozenset({"dueDate"})


@dataclass(frozen=True, slots=True)
class Condition:
    """A piece of SQL that is true or false for a row, and the values of its question marks."""

    sql: str
    values: tuple[object, ...] = ()


NEVER = Condition("0")
ALWAYS = Condition("1")


@dataclass(frozen=True, slots=True)
class Fields:
    """Compares fields of a data model at one moment (`$today$` is its day)."""

    model: DataModel
    now: datetime

    def term(self, term: Term) -> Condition:
        """Raises: BadQuery."""
        field = term.field
        if field is None:
            return Condition(
                "(has_words(w.title, ?, ?) OR w.id = ?)", (term.value, term.prefix, term.value)
            )
        for names, compare in _COMPARED:
            if field in names:
                return compare(term)
        if field in TIMES:
            return self._dates(TIMES[field], Range(field, term.value, term.value))
        if (name := reference_name(field)) is not None:
            return _reference(name, term)
        return self._attribute(term)

    def range(self, wanted: Range) -> Condition:
        """Raises: BadQuery."""
        if wanted.field in TIMES:
            return self._dates(TIMES[wanted.field], wanted)
        path = _path(wanted.field)
        if self._is_date(wanted.field):
            value = self._dates("json_extract(w.attributes, ?)", wanted, path)
            return Condition(f"({value.sql})", value.values)
        return _between(path, wanted)

    def has_value(self, wanted: HasValue) -> Condition:
        """Raises: BadQuery."""
        field = wanted.field
        if field in COLUMNS or field in TIMES or field in ("id", "title"):
            return ALWAYS
        if field in NOT_INDEXED - {"description"}:
            return NEVER
        if field == "linkedWorkItems":
            return Condition("EXISTS (SELECT 1 FROM link AS l WHERE l.item = w.rowid)")
        if (name := reference_name(field)) is not None:
            sql = "EXISTS (SELECT 1 FROM reference AS r WHERE r.item = w.rowid AND r.name = ?)"
            return Condition(sql, (name,))
        return Condition("ifnull(json_extract(w.attributes, ?), '') <> ''", (_path(field),))

    def _attribute(self, term: Term) -> Condition:
        field = term.field or ""
        path = _path(field)
        kinds = self.model.field_kinds(field)
        if self._is_date(field):
            return self._dates(
                "json_extract(w.attributes, ?)", Range(field, term.value, term.value), path
            )
        if kinds & {"text", "text/html"}:
            sql = "has_words(json_extract(w.attributes, ?), ?, ?)"
            return Condition(sql, (f"{path}.value", term.value, term.prefix))
        if term.prefix:
            test, values = "substr(e.atom, 1, ?) = ?", (len(term.value), term.value)
            return Condition(_EACH.format(test=test), (path, *values))
        return Condition(_EACH.format(test=_EQUALS), (path, term.value, _number(term.value)))

    def _is_date(self, field: str) -> bool:
        return field in DATE_ATTRIBUTES or bool(
            self.model.field_kinds(field) & {"date", "date-time"}
        )

    def _dates(self, column: str, wanted: Range, *bound: object) -> Condition:
        """`column` within the days of a range; `bound` are the values of its own question marks.

        Date-only values hold ten characters: both sides are cut to what the value has.
        """
        parts, values = [f"{column} IS NOT NULL"], list(bound)
        ends = (
            (wanted.low, ">=", 0 if wanted.include_low else 1),
            (wanted.high, "<", 1 if wanted.include_high else 0),
        )
        for end, operator, which in ends:
            if end is not None:
                parts.append(f"{column} {operator} substr(?, 1, max(10, length({column})))")
                values += [*bound, span(end, self.now)[which], *bound]
        return Condition(f"({' AND '.join(parts)})", tuple(values))


_EACH = (
    "EXISTS (SELECT 1 FROM json_each(w.attributes, ?) AS e"
    " WHERE e.type NOT IN ('object', 'array') AND {test})"
)
_EQUALS = (
    "(CASE e.type WHEN 'true' THEN 'true' WHEN 'false' THEN 'false' ELSE CAST(e.atom AS TEXT) END = ?"
    " OR (e.type IN ('integer', 'real') AND e.atom = ?))"
)


def reference_name(field: str) -> str | None:
    """The relationship that a field means: `assignee`, `assignee.id`, or any other `x.id`."""
    name = field.removesuffix(".id")
    return name if name in REFERENCES or name != field else None


def _column(term: Term) -> Condition:
    return _text(COLUMNS[term.field or ""], term)


def _title(term: Term) -> Condition:
    return Condition("has_words(w.title, ?, ?)", (term.value, term.prefix))


def _id(term: Term) -> Condition:
    project, slash, item = term.value.partition("/")
    if not slash:
        return _text("w.id", term)
    inner = _text("w.id", Term("id", item, prefix=term.prefix))
    return Condition(f"(w.project = ? AND {inner.sql})", (project, *inner.values))


def _linked(term: Term) -> Condition:
    role, equals, target = term.value.rpartition("=")
    parts: list[str] = ["l.item = w.rowid"]
    values: list[object] = []
    if equals:
        parts.append("l.role = ?")
        values.append(role)
    if "/" in target:
        parts.append("l.target = ?")
    else:
        parts.append("substr(l.target, instr(l.target, '/') + 1) = ?")
    values.append(target)
    sql = " AND ".join(parts)
    return Condition(f"EXISTS (SELECT 1 FROM link AS l WHERE {sql})", tuple(values))  # noqa: S608 - fixed pieces


def _not_indexed(term: Term) -> Condition:
    del term
    return NEVER


_COMPARED: tuple[tuple[frozenset[str], Callable[[Term], Condition]], ...] = (
    (frozenset({"id"}), _id),
    (frozenset({"title"}), _title),
    (frozenset({"linkedWorkItems"}), _linked),
    (frozenset(COLUMNS), _column),
    (NOT_INDEXED, _not_indexed),
)


def _reference(name: str, term: Term) -> Condition:
    target = _text("r.target", term)
    sql = f"SELECT 1 FROM reference AS r WHERE r.item = w.rowid AND r.name = ? AND {target.sql}"  # noqa: S608 - fixed pieces
    return Condition(f"EXISTS ({sql})", (name, *target.values))


def _text(column: str, term: Term) -> Condition:
    if term.prefix:
        return Condition(f"substr({column}, 1, ?) = ?", (len(term.value), term.value))
    return Condition(f"{column} = ?", (term.value,))


def _between(path: str, wanted: Range) -> Condition:
    """Numbers if both given ends are numbers, else text."""
    ends = [end for end in (wanted.low, wanted.high) if end is not None]
    numeric = all(_number(end) is not None for end in ends)
    parts = ["e.type IN ('integer', 'real')" if numeric else "e.type = 'text'"]
    values: list[object] = [path]
    for end, operator in (
        (wanted.low, ">=" if wanted.include_low else ">"),
        (wanted.high, "<=" if wanted.include_high else "<"),
    ):
        if end is not None:
            parts.append(f"e.atom {operator} ?")
            values.append(_number(end) if numeric else end)
    return Condition(_EACH.format(test=" AND ".join(parts)), tuple(values))


def _number(text: str) -> float | None:
    return float(text) if re.fullmatch(r"[+-]?\d{1,15}(\.\d{1,15})?", text) else None


def _path(field: str) -> str:
    if not FIELD_NAME.fullmatch(field):
        raise BadQuery(f"'{field}' is not the name of a field.")
    return f'$."{field}"'
