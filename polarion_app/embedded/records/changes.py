"""How work items are made, changed and deleted."""

import json
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from polarion_app.config.model import FIELD_NAME, DataModel
from polarion_app.embedded import values, workflow
from polarion_app.embedded.bodies import Incoming, Reference
from polarion_app.embedded.database import Change
from polarion_app.embedded.errors import ApiError, bad_request, forbidden
from polarion_app.embedded.permissions import Caller
from polarion_app.embedded.records import items, projects, users

_COLUMNS = ("title", "status")
_DEFAULTS = {"priority": values.DEFAULT_PRIORITY, "severity": "normal"}
_OWN_ROUTES = frozenset(
    {"linkedWorkItems", "backlinkedWorkItems", "attachments", "comments", "approvals"}
)
_FIXED = frozenset({"author", "project"})


@dataclass(frozen=True, slots=True)
class Rules:
    """By what a write is judged: who writes, and the data model, strictly or not."""

    caller: Caller
    model: DataModel
    strict: bool


@dataclass(frozen=True, slots=True)
class Move:
    """What a PATCH asks for beside its fields: a workflow action, or another type."""

    action: str | None = None
    new_type: str | None = None


def create(change: Change, project: str, sent: Incoming, rules: Rules) -> str:
    """Make the item and return its id inside the project. Raises: ApiError 400, 404."""
    type_id = sent.attributes.get("type")
    if not type_id:
        raise bad_request(
            "Required attribute 'type' is missing", pointer=f"{sent.pointer}.attributes.type"
        )
    type_id = values.string(type_id, f"{sent.pointer}.attributes.type")
    attributes = _checked(sent, type_id, rules)
    row = projects.find(change.db, project)
    item = f"{row['tracker_prefix']}-{row['next_number']}"
    change.db.execute("UPDATE project SET next_number = next_number + 1 WHERE id = ?", (project,))
    known = rules.model.types.get(type_id)
    columns = {
        "title": attributes.pop("title", ""),
        "status": attributes.pop("status", known.initial_status if known else "open"),
    }
    stored = {**_DEFAULTS, **{key: value for key, value in attributes.items() if value is not None}}
    added = change.db.execute(
        "INSERT INTO work_item (project, id, number, type, title, status, author, created, updated,"
        " revision, attributes) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            *(project, item, row["next_number"], type_id, columns["title"], columns["status"]),
            *(change.author, change.at, change.at, change.revision, json.dumps(stored)),
        ),
    )
    _set_references(change, added.lastrowid or 0, sent, rules)
    return item


def update(change: Change, row: sqlite3.Row, sent: Incoming, move: Move, rules: Rules) -> None:
    """Change what was sent, then do the move. Raises: ApiError 400, 403, 404."""
    if move.action and move.new_type:
        raise bad_request(
            "A workflow action and a change of type can't be combined.", parameter="changeTypeTo"
        )
    if move.new_type is not None:
        _change_type(change, row, move.new_type, rules)
        row = _again(change, row)
    attributes = _checked(sent, row["type"], rules)
    _require_status_right(row, attributes, rules)
    _set_references(change, row["rowid"], sent, rules)
    _store(change, row, attributes)
    if move.action:
        _perform(change, _again(change, row), move.action, rules)
    items.touch(change, row)


def delete(change: Change, row: sqlite3.Row) -> list[str]:
    """Delete the item with all that hangs on it; returns the names of its attachments' files."""
    files = change.db.execute(
        "SELECT file FROM attachment WHERE item = ?", (row["rowid"],)
    ).fetchall()
    change.db.execute("DELETE FROM work_item WHERE rowid = ?", (row["rowid"],))
    return [one["file"] for one in files]


def replace_references(
    change: Change, row: sqlite3.Row, name: str, references: tuple[Reference, ...]
) -> None:
    """Set a multi-valued relationship to exactly these."""
    change.db.execute("DELETE FROM reference WHERE item = ? AND name = ?", (row["rowid"], name))
    _insert(change, row["rowid"], name, references)
    items.touch(change, row)


def _again(change: Change, row: sqlite3.Row) -> sqlite3.Row:
    return items.find(change.db, row["project"], row["id"])


def _checked(sent: Incoming, type_id: str, rules: Rules) -> dict[str, Any]:
    return values.checked_attributes(
        sent.attributes, type_id, rules.model, strict=rules.strict, pointer=sent.pointer
    )


def _require_status_right(row: sqlite3.Row, attributes: Mapping[str, Any], rules: Rules) -> None:
    """Holders of an agent's role move an item by the workflow, never past it."""
    status = attributes.get("status", row["status"])
    if status != row["status"] and not rules.caller.sets_status(row["project"]):
        raise forbidden(
            f"User '{rules.caller.user}' may not set the status of '{items.full_id(row)}':"
            " use a workflow action."
        )


def _store(change: Change, row: sqlite3.Row, attributes: dict[str, Any]) -> None:
    columns = {name: attributes.pop(name, row[name]) for name in _COLUMNS}
    merged = json.loads(row["attributes"]) | attributes
    stored = {key: value for key, value in merged.items() if value is not None}
    change.db.execute(
        "UPDATE work_item SET title = ?, status = ?, attributes = ? WHERE rowid = ?",
        (*columns.values(), json.dumps(stored), row["rowid"]),
    )


def _change_type(change: Change, row: sqlite3.Row, type_id: str, rules: Rules) -> None:
    if rules.strict and type_id not in rules.model.types:
        raise bad_request(f"There is no type '{type_id}'.", parameter="changeTypeTo")
    change.db.execute("UPDATE work_item SET type = ? WHERE rowid = ?", (type_id, row["rowid"]))


def _perform(change: Change, row: sqlite3.Row, action_id: str, rules: Rules) -> None:
    action = workflow.chosen(
        rules.model.types.get(row["type"]),
        action_id,
        row["status"],
        row["id"],
        lambda roles: rules.caller.holds_one_of(roles, row["project"]),
    )
    for field in action.cleared:
        _clear(change, row, field)
    row = _again(change, row)
    workflow.require_filled(action, row["id"], lambda field: _is_empty(change.db, row, field))
    change.db.execute(
        "UPDATE work_item SET status = ? WHERE rowid = ?", (action.target, row["rowid"])
    )


def _clear(change: Change, row: sqlite3.Row, field: str) -> None:
    change.db.execute("DELETE FROM reference WHERE item = ? AND name = ?", (row["rowid"], field))
    change.db.execute(
        "UPDATE work_item SET attributes = json_remove(attributes, ?) WHERE rowid = ?",
        (f'$."{field}"', row["rowid"]),
    )


def _is_empty(db: sqlite3.Connection, row: sqlite3.Row, field: str) -> bool:
    found = db.execute(
        "SELECT 1 FROM reference WHERE item = ? AND name = ?", (row["rowid"], field)
    ).fetchone()
    return not (found or json.loads(row["attributes"]).get(field))


def _set_references(change: Change, rowid: int, sent: Incoming, rules: Rules) -> None:
    for name, related in sent.relationships.items():
        where = f"{sent.pointer}.relationships.{name}"
        if not FIELD_NAME.fullmatch(name):
            raise bad_request(f"'{name[:100]}' is not the name of a relationship.", pointer=where)
        if name in _OWN_ROUTES:
            raise bad_request(f"'{name}' is set by requests of its own.", pointer=where)
        if name == "module":
            raise bad_request("This server has no documents.", pointer=where)
        if name in _FIXED:
            continue
        if rules.strict:
            _require_users(change.db, related, where)
        change.db.execute("DELETE FROM reference WHERE item = ? AND name = ?", (rowid, name))
        _insert(change, rowid, name, related)


def _insert(
    change: Change, rowid: int, name: str, related: Reference | tuple[Reference, ...]
) -> None:
    single = isinstance(related, Reference) and name != "assignee"
    rows = (related,) if isinstance(related, Reference) else tuple(dict.fromkeys(related))
    change.db.executemany(
        "INSERT INTO reference VALUES (?, ?, ?, ?, ?)",
        [
            (rowid, name, items.SINGLE if single else place, one.type, one.id)
            for place, one in enumerate(rows)
        ],
    )


def _require_users(
    db: sqlite3.Connection, related: Reference | tuple[Reference, ...], pointer: str
) -> None:
    for reference in (related,) if isinstance(related, Reference) else related:
        if reference.type == "users":
            try:
                users.find(db, reference.id)
            except ApiError as error:
                raise bad_request(f"There is no user '{reference.id}'.", pointer=pointer) from error
