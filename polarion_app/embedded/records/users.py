"""Users and the roles they hold."""

import json
import re
import sqlite3
from collections.abc import Iterable

from polarion_app.config.model import DataModel
from polarion_app.embedded import values
from polarion_app.embedded.bodies import Incoming, Reference
from polarion_app.embedded.database import Change
from polarion_app.embedded.documents import Page, Resource, to_many
from polarion_app.embedded.errors import bad_request, conflict, not_found
from polarion_app.embedded.permissions import Caller, caller_of
from polarion_app.embedded.records.urls import segment

USER_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.@-]{0,63}")


def find(db: sqlite3.Connection, user: str) -> sqlite3.Row:
    """Raises: ApiError 404."""
    row: sqlite3.Row | None = db.execute("SELECT * FROM user WHERE id = ?", (user,)).fetchone()
    if row is None:
        raise not_found("users", user)
    return row


def caller(db: sqlite3.Connection, user: str, model: DataModel) -> Caller:
    """The user as a caller, with everything their roles allow."""
    rows = db.execute("SELECT project, role FROM user_role WHERE user = ?", (user,)).fetchall()
    return caller_of(
        user,
        [row["role"] for row in rows if not row["project"]],
        [(row["project"], row["role"]) for row in rows if row["project"]],
        model,
    )


def listed(db: sqlite3.Connection, base: str, size: int, number: int) -> Page:
    total = db.execute("SELECT count(*) FROM user").fetchone()[0]
    rows = db.execute(
        "SELECT * FROM user ORDER BY id LIMIT ? OFFSET ?", (size, (number - 1) * size)
    ).fetchall()
    return Page([resource(db, base, row) for row in rows], total, size, number)


def resource(db: sqlite3.Connection, base: str, row: sqlite3.Row) -> Resource:
    roles = db.execute(
        "SELECT project, role FROM user_role WHERE user = ? ORDER BY project, role", (row["id"],)
    ).fetchall()
    project_roles = [f"{role['project']}/{role['role']}" for role in roles if role["project"]]
    global_roles = [role["role"] for role in roles if not role["project"]]
    attributes = {
        "id": row["id"],
        "name": row["name"],
        "email": row["email"],
        "disabled": bool(row["disabled"]),
    }
    if row["description"] is not None:
        attributes["description"] = json.loads(row["description"])
    return Resource(
        "users",
        row["id"],
        attributes,
        {
            "projectRoles": to_many(
                [{"type": "projectroles", "id": role} for role in project_roles]
            ),
            "globalRoles": to_many([{"type": "globalroles", "id": role} for role in global_roles]),
        },
        {"self": f"{base}/users/{segment(row['id'])}"},
    )


def create(change: Change, sent: Incoming, model: DataModel) -> str:
    """Make the user and return the id. Raises: ApiError 400, 404 (a project), 409."""
    where = f"{sent.pointer}.attributes"
    user = values.string(sent.attributes.get("id", sent.id), f"{where}.id")
    if not USER_ID.fullmatch(user):
        raise bad_request(
            "A user id has 1 to 64 letters, digits and . _ @ -", pointer=f"{where}.id"
        )
    if change.db.execute("SELECT 1 FROM user WHERE id = ?", (user,)).fetchone():
        raise conflict(f"User '{user}' exists already.", pointer=f"{where}.id")
    change.db.execute("INSERT INTO user (id, name) VALUES (?, ?)", (user, user))
    _set_global_roles(change, user, (Reference("globalroles", "user"),), model, sent.pointer)
    update(change, user, sent, model)
    return user


def update(change: Change, user: str, sent: Incoming, model: DataModel) -> None:
    """Change what was sent; role lists are replaced whole. Raises: ApiError 400, 404."""
    find(change.db, user)
    for key, value in sent.attributes.items():
        where = f"{sent.pointer}.attributes.{key}"
        match key:
            case "name" | "email":
                _set(change, user, key, values.string(value, where))
            case "disabled":
                _set(change, user, key, values.boolean(value, where))
            case "description":
                text = None if value is None else json.dumps(values.rich_text(value, where))
                _set(change, user, key, text)
            case _:
                continue  # id is fixed; initials and the like are not kept
    for name, setter in (("projectRoles", _set_project_roles), ("globalRoles", _set_global_roles)):
        if name in sent.relationships:
            setter(change, user, _as_list(sent.relationships[name]), model, sent.pointer)


def _set(change: Change, user: str, column: str, value: object) -> None:
    change.db.execute(f"UPDATE user SET {column} = ? WHERE id = ?", (value, user))  # noqa: S608 - column is a literal of ours


def _set_project_roles(
    change: Change, user: str, roles: Iterable[Reference], model: DataModel, pointer: str
) -> None:
    change.db.execute("DELETE FROM user_role WHERE user = ? AND project <> ''", (user,))
    for reference in roles:
        project, _, role = reference.id.partition("/")
        _require_role(role, "project", model, f"{pointer}.relationships.projectRoles")
        if not change.db.execute("SELECT 1 FROM project WHERE id = ?", (project,)).fetchone():
            raise not_found("projects", project)
        _grant(change, user, project, role)


def _set_global_roles(
    change: Change, user: str, roles: Iterable[Reference], model: DataModel, pointer: str
) -> None:
    change.db.execute("DELETE FROM user_role WHERE user = ? AND project = ''", (user,))
    for reference in roles:
        _require_role(reference.id, "global", model, f"{pointer}.relationships.globalRoles")
        _grant(change, user, "", reference.id)


def _grant(change: Change, user: str, project: str, role: str) -> None:
    change.db.execute("INSERT OR IGNORE INTO user_role VALUES (?, ?, ?)", (user, project, role))


def _require_role(role: str, scope: str, model: DataModel, pointer: str) -> None:
    known = model.roles.get(role)
    if known is None or known.scope != scope:
        raise bad_request(f"There is no {scope} role '{role}'.", pointer=pointer)


def _as_list(related: Reference | tuple[Reference, ...]) -> tuple[Reference, ...]:
    return (related,) if isinstance(related, Reference) else related
