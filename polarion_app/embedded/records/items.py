"""Work items: finding, listing, showing."""

import json
import sqlite3
from collections.abc import Callable, Sequence
from typing import Any

from polarion_app.embedded.database import Change
from polarion_app.embedded.documents import Resource, to_many, to_one
from polarion_app.embedded.errors import not_found
from polarion_app.embedded.permissions import Caller
from polarion_app.embedded.query.fields import Condition
from polarion_app.embedded.records import urls

SINGLE = -1
"""The place of a reference that stands alone, as a user-typed custom field does."""

type Wanted = Callable[[str], bool]
"""Whether a relationship is worth looking up."""


def find(db: sqlite3.Connection, project: str, item: str) -> sqlite3.Row:
    """Raises: ApiError 404."""
    row: sqlite3.Row | None = db.execute(
        "SELECT * FROM work_item WHERE project = ? AND id = ?", (project, item)
    ).fetchone()
    if row is None:
        raise not_found("workitems", f"{project}/{item}")
    return row


def full_id(row: sqlite3.Row) -> str:
    return f"{row['project']}/{row['id']}"


def touch(change: Change, row: sqlite3.Row) -> None:
    """Note that something of the item, or on it, was changed now."""
    change.db.execute(
        "UPDATE work_item SET updated = ?, revision = ? WHERE rowid = ?",
        (change.at, change.revision, row["rowid"]),
    )


def in_project(project: str) -> Condition:
    return Condition("w.project = ?", (project,))


def readable_by(caller: Caller) -> Condition:
    """Items of all projects that the caller may read."""
    if caller.reads_everything:
        return Condition("1")
    projects = json.dumps(caller.readable_projects)
    return Condition("w.project IN (SELECT value FROM json_each(?))", (projects,))


def selected(
    db: sqlite3.Connection,
    conditions: Sequence[Condition],
    order: Condition,
    size: int,
    number: int,
) -> tuple[list[sqlite3.Row], int]:
    """One page of the rows that fulfil all conditions, and how many there are in all."""
    where = " AND ".join(f"({condition.sql})" for condition in conditions)
    bound = [value for condition in conditions for value in condition.values]
    total = db.execute(f"SELECT count(*) FROM work_item AS w WHERE {where}", bound).fetchone()[0]  # noqa: S608 - conditions bind every value
    rows = db.execute(
        f"SELECT * FROM work_item AS w WHERE {where} ORDER BY {order.sql} LIMIT ? OFFSET ?",  # noqa: S608 - as above
        (*bound, *order.values, size, (number - 1) * size),
    ).fetchall()
    return rows, total


def resource(
    db: sqlite3.Connection, base: str, row: sqlite3.Row, wanted: Wanted = lambda _: True
) -> Resource:
    """Everything about an item; relationships only as far as `wanted`."""
    project, item = row["project"], row["id"]
    own = urls.of_item(base, project, item)
    attributes = {
        name: row[name] for name in ("id", "type", "title", "status", "created", "updated")
    }
    attributes |= json.loads(row["attributes"])
    relationships: dict[str, Any] = {
        "author": to_one("users", row["author"]),
        "project": to_one("projects", project),
        **_references(db, row),
    }
    for name, look_up in _RELATED.items():
        if wanted(name):
            related = to_many(look_up(db, row))
            related["links"] = {"related": f"{own}/{name.lower()}"}
            relationships[name] = related
    links = {"self": own, "portal": urls.portal(base, project, item)}
    return Resource(
        "workitems", full_id(row), attributes, relationships, links, str(row["revision"])
    )


def _references(db: sqlite3.Connection, row: sqlite3.Row) -> dict[str, Any]:
    found: dict[str, Any] = {"assignee": []}
    singles: dict[str, Any] = {}
    for reference in db.execute(
        "SELECT * FROM reference WHERE item = ? ORDER BY name, place", (row["rowid"],)
    ):
        if reference["place"] == SINGLE:
            singles[reference["name"]] = to_one(reference["type"], reference["target"])
        else:
            identifier = {"type": reference["type"], "id": reference["target"]}
            found.setdefault(reference["name"], []).append(identifier)
    return {name: to_many(identifiers) for name, identifiers in found.items()} | singles


def _links(db: sqlite3.Connection, row: sqlite3.Row) -> list[dict[str, Any]]:
    rows = db.execute("SELECT * FROM link WHERE item = ? ORDER BY rowid", (row["rowid"],))
    return [
        {
            "type": "linkedworkitems",
            "id": f"{full_id(row)}/{link['role']}/{link['target']}",
            "suspect": bool(link["suspect"]),
        }
        for link in rows
    ]


def _attachments(db: sqlite3.Connection, row: sqlite3.Row) -> list[dict[str, Any]]:
    rows = db.execute("SELECT * FROM attachment WHERE item = ? ORDER BY number", (row["rowid"],))
    return [
        {"type": "workitem_attachments", "id": f"{full_id(row)}/{one['number']}-{one['name']}"}
        for one in rows
    ]


def _comments(db: sqlite3.Connection, row: sqlite3.Row) -> list[dict[str, Any]]:
    rows = db.execute("SELECT number FROM comment WHERE item = ? ORDER BY number", (row["rowid"],))
    return [{"type": "workitem_comments", "id": f"{full_id(row)}/{one['number']}"} for one in rows]


_RELATED = {"linkedWorkItems": _links, "attachments": _attachments, "comments": _comments}
