"""Attachments of a work item. Names live in the database; the bytes in files with names of our own."""

import sqlite3
from dataclasses import dataclass

from polarion_app.embedded import values
from polarion_app.embedded.bodies import CONTROLS, Incoming
from polarion_app.embedded.database import Change
from polarion_app.embedded.documents import Page, Resource, to_one
from polarion_app.embedded.errors import bad_request, conflict, not_found
from polarion_app.embedded.records import items, urls

MAX_NAME = 255


@dataclass(frozen=True, slots=True)
class StoredFile:
    """Bytes that are on the disk already: our file's name, its length, the name that was sent."""

    file: str
    length: int
    name: str | None


def listed(db: sqlite3.Connection, base: str, row: sqlite3.Row, size: int, number: int) -> Page:
    """The item's attachments in the order in which they came."""
    total = db.execute(
        "SELECT count(*) FROM attachment WHERE item = ?", (row["rowid"],)
    ).fetchone()[0]
    rows = db.execute(
        "SELECT * FROM attachment WHERE item = ? ORDER BY number LIMIT ? OFFSET ?",
        (row["rowid"], size, (number - 1) * size),
    ).fetchall()
    return Page([resource(base, row, one) for one in rows], total, size, number)


def find(db: sqlite3.Connection, row: sqlite3.Row, attachment: str) -> sqlite3.Row:
    """By its id inside the item, `<n>-<fileName>`. Raises: ApiError 404."""
    found: sqlite3.Row | None = db.execute(
        "SELECT * FROM attachment WHERE item = ? AND number || '-' || name = ?",
        (row["rowid"], attachment),
    ).fetchone()
    if found is None:
        raise not_found("workitem_attachments", f"{items.full_id(row)}/{attachment}")
    return found


def resource(base: str, row: sqlite3.Row, attachment: sqlite3.Row) -> Resource:
    inner = f"{attachment['number']}-{attachment['name']}"
    own = f"{urls.of_item(base, row['project'], row['id'])}/attachments/{urls.segment(inner)}"
    attributes = {
        "id": inner,
        "fileName": attachment["name"],
        "title": attachment["title"],
        "length": attachment["length"],
        "updated": attachment["updated"],
    }
    relationships = {
        "author": to_one("users", attachment["author"]),
        "project": to_one("projects", row["project"]),
    }
    return Resource(
        "workitem_attachments",
        f"{items.full_id(row)}/{inner}",
        attributes,
        relationships,
        {"self": own, "content": f"{own}/content"},
    )


def create(change: Change, row: sqlite3.Row, sent: Incoming, stored: StoredFile) -> sqlite3.Row:
    """Raises: ApiError 400 (the name), 409 (the item has one of that name)."""
    name = _name(sent, stored)
    title = sent.attributes.get("title")
    if title is None:
        title = name
    title = values.string(title, f"{sent.pointer}.attributes.title")
    number = change.db.execute(
        "SELECT ifnull(max(number), 0) + 1 FROM attachment WHERE item = ?", (row["rowid"],)
    ).fetchone()[0]
    try:
        change.db.execute(
            "INSERT INTO attachment VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (
                row["rowid"],
                number,
                name,
                title,
                change.author,
                change.at,
                stored.length,
                stored.file,
            ),
        )
    except sqlite3.IntegrityError as error:
        raise conflict(f"'{items.full_id(row)}' has an attachment '{name}' already.") from error
    items.touch(change, row)
    return find(change.db, row, f"{number}-{name}")


def update(
    change: Change, row: sqlite3.Row, attachment: str, sent: Incoming, stored: StoredFile | None
) -> str | None:
    """Change title or content; returns our file that is no longer needed. Raises: ApiError 400, 404."""
    found = find(change.db, row, attachment)
    title = sent.attributes.get("title", found["title"])
    title = values.string(title, f"{sent.pointer}.attributes.title")
    file, length = (stored.file, stored.length) if stored else (found["file"], found["length"])
    change.db.execute(
        "UPDATE attachment SET title = ?, file = ?, length = ?, updated = ? WHERE item = ? AND number = ?",
        (title, file, length, change.at, row["rowid"], found["number"]),
    )
    items.touch(change, row)
    return found["file"] if stored else None


def delete(change: Change, row: sqlite3.Row, attachment: str) -> str:
    """Delete it; returns our file that is no longer needed. Raises: ApiError 404."""
    found = find(change.db, row, attachment)
    change.db.execute(
        "DELETE FROM attachment WHERE item = ? AND number = ?", (row["rowid"], found["number"])
    )
    items.touch(change, row)
    return str(found["file"])


def known_files(db: sqlite3.Connection) -> set[str]:
    """Every file of ours that an attachment needs."""
    return {row["file"] for row in db.execute("SELECT file FROM attachment")}


def _name(sent: Incoming, stored: StoredFile) -> str:
    where = f"{sent.pointer}.attributes.fileName"
    name = values.string(sent.attributes.get("fileName") or stored.name, where)
    if not name or len(name) > MAX_NAME or CONTROLS.search(name) or {"\n", "\r", "\t"} & set(name):
        raise bad_request(f"A file name has 1 to {MAX_NAME} printable characters.", pointer=where)
    return name
