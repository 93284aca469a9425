"""Comments of a work item. They are added and resolved, never changed or deleted."""

import json
import sqlite3

from polarion_app.embedded import values
from polarion_app.embedded.bodies import Incoming
from polarion_app.embedded.database import Change
from polarion_app.embedded.documents import Page, Resource, to_many, to_one
from polarion_app.embedded.errors import bad_request, not_found
from polarion_app.embedded.records import items, urls


def listed(db: sqlite3.Connection, base: str, row: sqlite3.Row, size: int, number: int) -> Page:
    """The item's comments, oldest first."""
    total = db.execute("SELECT count(*) FROM comment WHERE item = ?", (row["rowid"],)).fetchone()[0]
    rows = db.execute(
        "SELECT * FROM comment WHERE item = ? ORDER BY number LIMIT ? OFFSET ?",
        (row["rowid"], size, (number - 1) * size),
    ).fetchall()
    return Page([resource(db, base, row, comment) for comment in rows], total, size, number)


def find(db: sqlite3.Connection, row: sqlite3.Row, number: str) -> sqlite3.Row:
    """Raises: ApiError 404."""
    comment: sqlite3.Row | None = db.execute(
        "SELECT * FROM comment WHERE item = ? AND number = CAST(? AS INTEGER) AND ? = CAST(number AS TEXT)",
        (row["rowid"], number, number),
    ).fetchone()
    if comment is None:
        raise not_found("workitem_comments", f"{items.full_id(row)}/{number}")
    return comment


def resource(db: sqlite3.Connection, base: str, row: sqlite3.Row, comment: sqlite3.Row) -> Resource:
    item, number = items.full_id(row), comment["number"]
    children = db.execute(
        "SELECT number FROM comment WHERE item = ? AND parent = ? ORDER BY number",
        (row["rowid"], number),
    )
    attributes = {
        "id": str(number),
        "created": comment["created"],
        "resolved": bool(comment["resolved"]),
        "text": json.loads(comment["body"]),
    }
    if comment["title"] is not None:
        attributes["title"] = comment["title"]
    relationships = {
        "author": to_one("users", comment["author"]),
        "project": to_one("projects", row["project"]),
        "childComments": to_many(
            [{"type": "workitem_comments", "id": f"{item}/{child['number']}"} for child in children]
        ),
    }
    if comment["parent"] is not None:
        relationships["parentComment"] = to_one("workitem_comments", f"{item}/{comment['parent']}")
    own = urls.of_item(base, row["project"], row["id"])
    return Resource(
        "workitem_comments",
        f"{item}/{number}",
        attributes,
        relationships,
        {"self": f"{own}/comments/{number}"},
    )


def create(change: Change, row: sqlite3.Row, sent: Incoming) -> sqlite3.Row:
    """Add the comment; its author is who writes. Raises: ApiError 400, 404 (the parent)."""
    where = f"{sent.pointer}.attributes"
    if "text" not in sent.attributes:
        raise bad_request("Required attribute 'text' is missing", pointer=f"{where}.text")
    body = values.rich_text(sent.attributes["text"], f"{where}.text")
    resolved = values.boolean(sent.attributes.get("resolved", False), f"{where}.resolved")
    title = sent.attributes.get("title")
    if title is not None:
        title = values.string(title, f"{where}.title")
    parent = _parent(change.db, row, sent)
    number = change.db.execute(
        "SELECT ifnull(max(number), 0) + 1 FROM comment WHERE item = ?", (row["rowid"],)
    ).fetchone()[0]
    change.db.execute(
        "INSERT INTO comment VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (row["rowid"], number, change.author, change.at, title, json.dumps(body), resolved, parent),
    )
    items.touch(change, row)
    return find(change.db, row, str(number))


def resolve(change: Change, row: sqlite3.Row, number: str, sent: Incoming) -> None:
    """Set `resolved`, the only thing that may change. Raises: ApiError 400, 404."""
    find(change.db, row, number)
    if set(sent.attributes) != {"resolved"}:
        raise bad_request(
            "Only 'resolved' of a comment can be changed.", pointer=f"{sent.pointer}.attributes"
        )
    resolved = values.boolean(sent.attributes["resolved"], f"{sent.pointer}.attributes.resolved")
    change.db.execute(
        "UPDATE comment SET resolved = ? WHERE item = ? AND number = ?",
        (resolved, row["rowid"], number),
    )
    items.touch(change, row)


def _parent(db: sqlite3.Connection, row: sqlite3.Row, sent: Incoming) -> int | None:
    if not sent.relationships.get("parentComment"):
        return None
    parent = sent.one("parentComment").id
    number = parent.removeprefix(f"{items.full_id(row)}/")
    return int(find(db, row, number)["number"])
