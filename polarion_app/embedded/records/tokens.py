"""Personal access tokens. Only their SHA-256 is stored; the text is shown once, at making."""

import hashlib
import secrets
import sqlite3

from polarion_app.embedded.database import Change
from polarion_app.embedded.documents import Resource
from polarion_app.embedded.errors import not_found

PREFIX = "sgp_"
"""So that scanners recognise a leaked token."""


def digest(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).hexdigest()


def owner(db: sqlite3.Connection, token: str, now: str) -> str | None:
    """The user whose valid token this is; None for an unknown or expired one, or a disabled user."""
    row = db.execute(
        "SELECT token.user FROM token JOIN user ON user.id = token.user"
        " WHERE sha256 = ? AND NOT disabled AND (expires IS NULL OR expires > ?)",
        (digest(token), now),
    ).fetchone()
    return row["user"] if row else None


def make(change: Change, user: str, name: str, expires: str | None) -> tuple[int, str]:
    """A new token of the user's: its id and its text."""
    token = PREFIX + secrets.token_urlsafe(32)
    return add(change, user, name, token, expires), token


def add(change: Change, user: str, name: str, token: str, expires: str | None = None) -> int:
    """Keep the hash of a token that was made elsewhere."""
    row = change.db.execute(
        "INSERT INTO token (sha256, user, name, created, expires) VALUES (?, ?, ?, ?, ?)",
        (digest(token), user, name, change.at, expires),
    )
    return row.lastrowid or 0


def revoke(change: Change, user: str, token_id: str) -> None:
    """Raises: ApiError 404."""
    row = change.db.execute("DELETE FROM token WHERE user = ? AND id = ?", (user, token_id))
    if not row.rowcount:
        raise not_found("tokens", f"{user}/{token_id}")


def of_user(db: sqlite3.Connection, user: str) -> list[Resource]:
    """The user's tokens, without their texts: nobody has those."""
    rows = db.execute("SELECT * FROM token WHERE user = ? ORDER BY id", (user,)).fetchall()
    return [
        Resource(
            "tokens",
            f"{user}/{row['id']}",
            {"name": row["name"], "created": row["created"], "expires": row["expires"]},
        )
        for row in rows
    ]
