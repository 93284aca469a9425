"""Work items and comments as agents read them: JSON that stays whole however long the texts are [pure]."""

from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from orchestrator.adapters.polarion.resources import Comment, Text, WorkItem
from orchestrator.adapters.polarion.richtext import plain

WHOLE_CHARS = 32_000
"""The gateway shows so much of an answer and a little more (`RESULT_CHARS`), cut wherever that is."""
TEXT_CHARS = 20_000
TITLE_CHARS = 250
_LESS = (TEXT_CHARS, 5_000, 1_000, 100)


def item_shown(item: WorkItem) -> str:
    """One work item; the texts of one that holds very much are shortened further."""
    for chars in _LESS:
        shown = as_json(_item(item, chars))
        if len(shown) <= WHOLE_CHARS:
            return shown
    return as_json(_item(item, 0) | {"fields": "too many to be shown"})


def memories_shown(items: Sequence[WorkItem]) -> str:
    """Memories with their texts and whether they count yet; fewer when they are too long together."""
    rows: list[dict[str, Any]] = []
    for one in items:
        text = plain(one.description)[:TEXT_CHARS]
        rows.append({"id": one.id, "status": one.status, "title": one.title, "text": text})
        if len(as_json(rows)) > WHOLE_CHARS:
            rows[-1] = {"left_out": f"{len(items) - len(rows) + 1} older memories"}
            break
    return as_json(rows)


def comments_shown(comments: Sequence[Comment]) -> str:
    """Comments, oldest first. When they are too many, the newest are shown, and how many aren't."""
    rows: list[dict[str, Any]] = []
    length = 0
    for one in reversed(comments):
        row = _comment(one)
        length += len(as_json(row))
        if length > WHOLE_CHARS:
            rows.append({"left_out": f"{len(comments) - len(rows)} older comments"})
            break
        rows.append(row)
    return as_json(rows[::-1])


def rows_shown(items: Sequence[WorkItem]) -> str:
    """Work items in short."""
    return as_json(
        [
            {
                "id": one.id,
                "type": one.type,
                "title": shortened(one.title, TITLE_CHARS),
                "status": one.status,
            }
            for one in items
        ]
    )


def shortened(text: str, chars: int) -> str:
    """The text, or as much of it as may be, with a word about what is missing."""
    if len(text) <= chars:
        return text
    return f"{text[:chars]} [cut: {chars} of {len(text)} characters]"


def as_json(data: Any) -> str:
    """Indented, for a reader."""
    return orjson.dumps(data, option=orjson.OPT_INDENT_2, default=str).decode()


def _item(item: WorkItem, chars: int) -> dict[str, Any]:
    return {
        "id": item.id,
        "type": item.type,
        "title": shortened(item.title, TITLE_CHARS),
        "status": item.status,
        "description": shortened(plain(item.description), chars),
        "assignees": list(item.assignees[:100]),
        "author": item.author,
        "fields": _fields(item.custom, chars),
    }


def _fields(custom: Mapping[str, Any], chars: int) -> dict[str, Any]:
    return {name: _value(value, chars) for name, value in custom.items()}


def _value(value: Any, chars: int) -> Any:
    match value:
        case Text():
            return shortened(plain(value), chars)
        case str():
            return shortened(value, chars)
        case dict() | list():
            return shortened(as_json(value), chars) if len(as_json(value)) > chars else value
        case _:
            return value


def _comment(one: Comment) -> dict[str, Any]:
    return {
        "author": one.author,
        "title": shortened(one.title, TITLE_CHARS),
        "text": shortened(plain(one.text), TEXT_CHARS),
        "created": one.created,
    }
