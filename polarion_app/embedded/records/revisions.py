"""Revisions: who changed something when. What it was before, this server doesn't know."""

import sqlite3

from polarion_app.embedded.documents import Resource
from polarion_app.embedded.errors import not_found

REPOSITORY = "default"
_MOST_DIGITS = 18


def resource(db: sqlite3.Connection, base: str, repository: str, number: str) -> Resource:
    """Raises: ApiError 404."""
    known = repository == REPOSITORY and number.isascii() and number.isdigit()
    row = None
    if known and len(number) <= _MOST_DIGITS:
        row = db.execute("SELECT * FROM revision WHERE number = ?", (int(number),)).fetchone()
    if row is None:
        raise not_found("revisions", f"{repository}/{number}")
    return Resource(
        "revisions",
        f"{REPOSITORY}/{row['number']}",
        {"id": str(row["number"]), "repositoryName": REPOSITORY, "created": row["at"]},
        {"author": {"data": {"type": "users", "id": row["author"]}}},
        {"self": f"{base}/revisions/{REPOSITORY}/{row['number']}"},
    )
