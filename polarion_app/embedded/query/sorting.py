"""The `sort` string as SQL [pure]: `~updated,id`; `~` or `-` before a name turns it round."""

from polarion_app.config.model import FIELD_NAME
from polarion_app.embedded.query.fields import COLUMNS, TIMES, Condition
from polarion_app.embedded.query.terms import BadQuery

_SORTED = {**COLUMNS, **TIMES, "title": "w.title COLLATE NOCASE"}
_BY_ID = "w.project {way}, w.number {way}"
MAX_KEYS = 8


def order(text: str) -> Condition:
    """What stands after ORDER BY; the item's number always decides in the end.

    Raises: BadQuery.
    """
    keys = [key.strip() for key in text.split(",") if key.strip()]
    if len(keys) > MAX_KEYS:
        raise BadQuery(f"Sort by {MAX_KEYS} fields at most.")
    parts: list[str] = []
    values: list[object] = []
    for key in keys:
        name = key.lstrip("~-+")
        way = "DESC" if key[0] in "~-" else "ASC"
        if name == "id":
            parts.append(_BY_ID.format(way=way))
        elif name in _SORTED:
            parts.append(f"{_SORTED[name]} {way}")
        elif FIELD_NAME.fullmatch(name):
            parts.append(f"json_extract(w.attributes, ?) {way}")
            values.append(f'$."{name}"')
        else:
            raise BadQuery(f"'{name}' is not the name of a field.")
    return Condition(", ".join([*parts, _BY_ID.format(way="ASC")]), tuple(values))
