"""Links from one work item to another. A target that doesn't exist is kept, as Polarion does."""

import sqlite3
from collections.abc import Sequence

from polarion_app.config.model import ANY_TYPE, DataModel
from polarion_app.embedded import values
from polarion_app.embedded.bodies import Incoming
from polarion_app.embedded.database import Change
from polarion_app.embedded.documents import Page, Resource, to_one
from polarion_app.embedded.errors import ApiError, bad_request, conflict, not_found
from polarion_app.embedded.records import items, urls
from polarion_app.embedded.records.changes import Rules

TARGET_SEGMENTS = 2


def listed(db: sqlite3.Connection, base: str, row: sqlite3.Row, size: int, number: int) -> Page:
    """The links that start at the item."""
    total = db.execute("SELECT count(*) FROM link WHERE item = ?", (row["rowid"],)).fetchone()[0]
    links = db.execute(
        "SELECT * FROM link WHERE item = ? ORDER BY rowid LIMIT ? OFFSET ?",
        (row["rowid"], size, (number - 1) * size),
    ).fetchall()
    return Page([resource(base, row, link) for link in links], total, size, number)


def listed_back(
    db: sqlite3.Connection,
    base: str,
    row: sqlite3.Row,
    projects: Sequence[str] | None,
    at: tuple[int, int],
) -> Page:
    """The links that end at the item, from `projects` only (None: from all)."""
    found = db.execute(
        "SELECT link.*, w.project AS project, w.id AS id FROM link"
        " JOIN work_item AS w ON w.rowid = link.item WHERE link.target = ? ORDER BY link.rowid",
        (items.full_id(row),),
    ).fetchall()
    seen = [link for link in found if projects is None or link["project"] in projects]
    size, number = at
    part = seen[(number - 1) * size : number * size]
    return Page([resource(base, link, link) for link in part], len(seen), size, number)


def resource(base: str, source: sqlite3.Row, link: sqlite3.Row) -> Resource:
    """`source` gives project and id of the item where the link starts."""
    own = urls.of_item(base, source["project"], source["id"])
    project, _, item = link["target"].partition("/")
    path = "/".join(urls.segment(part) for part in (link["role"], project, item))
    attributes = {"role": link["role"], "suspect": bool(link["suspect"])}
    if link["revision"]:
        attributes["revision"] = link["revision"]
    return Resource(
        "linkedworkitems",
        f"{source['project']}/{source['id']}/{link['role']}/{link['target']}",
        attributes,
        {"workItem": to_one("workitems", link["target"])},
        {"self": f"{own}/linkedworkitems/{path}"},
    )


def find(db: sqlite3.Connection, row: sqlite3.Row, role: str, target: str) -> sqlite3.Row:
    """Raises: ApiError 404."""
    link: sqlite3.Row | None = db.execute(
        "SELECT * FROM link WHERE item = ? AND role = ? AND target = ?",
        (row["rowid"], role, target),
    ).fetchone()
    if link is None:
        raise not_found("linkedworkitems", f"{items.full_id(row)}/{role}/{target}")
    return link


def create(change: Change, row: sqlite3.Row, sent: Incoming, rules: Rules) -> sqlite3.Row:
    """Make the link. Raises: ApiError 400, 409."""
    where = f"{sent.pointer}.attributes"
    role = values.string(sent.attributes.get("role"), f"{where}.role")
    suspect = values.boolean(sent.attributes.get("suspect", False), f"{where}.suspect")
    target = sent.one("workItem").id
    if not role or "/" in role:
        raise bad_request(f"'{role}' can't be a link role.", pointer=f"{where}.role")
    if len(target.split("/")) != TARGET_SEGMENTS:
        raise bad_request(
            f"'{target}' is not the id of a work item: write PROJECT/ITEM.",
            pointer=f"{sent.pointer}.relationships.workItem",
        )
    if rules.strict:
        _require_fit(change.db, row, (role, target), rules, sent.pointer)
    try:
        change.db.execute(
            "INSERT INTO link (item, role, target, suspect) VALUES (?, ?, ?, ?)",
            (row["rowid"], role, target, suspect),
        )
    except sqlite3.IntegrityError as error:
        raise conflict(f"'{items.full_id(row)}' is linked so already: {role} {target}.") from error
    items.touch(change, row)
    return find(change.db, row, role, target)


def update(change: Change, row: sqlite3.Row, role: str, target: str, sent: Incoming) -> None:
    """Change `suspect` or `revision`. Raises: ApiError 400, 404."""
    link = find(change.db, row, role, target)
    where = f"{sent.pointer}.attributes"
    suspect = values.boolean(
        sent.attributes.get("suspect", bool(link["suspect"])), f"{where}.suspect"
    )
    revision = sent.attributes.get("revision", link["revision"])
    if revision is not None:
        revision = values.string(revision, f"{where}.revision")
    change.db.execute(
        "UPDATE link SET suspect = ?, revision = ? WHERE item = ? AND role = ? AND target = ?",
        (suspect, revision, row["rowid"], role, target),
    )
    items.touch(change, row)


def delete(change: Change, row: sqlite3.Row, role: str, target: str) -> None:
    """Raises: ApiError 404."""
    find(change.db, row, role, target)
    change.db.execute(
        "DELETE FROM link WHERE item = ? AND role = ? AND target = ?", (row["rowid"], role, target)
    )
    items.touch(change, row)


def _require_fit(
    db: sqlite3.Connection, row: sqlite3.Row, link: tuple[str, str], rules: Rules, pointer: str
) -> None:
    """The strict rules: a known role, a target that exists and may be read, types that it joins."""
    role, target = link
    known = rules.model.link_roles.get(role)
    if known is None:
        raise bad_request(f"There is no link role '{role}'.", pointer=f"{pointer}.attributes.role")
    project, _, item = target.partition("/")
    try:
        rules.caller.require("GET", project)
        other = items.find(db, project, item)
    except ApiError as error:
        raise bad_request(
            f"There is no work item '{target}'.", pointer=f"{pointer}.relationships.workItem"
        ) from error
    for allowed, one in ((known.sources, row), (known.targets, other)):
        if ANY_TYPE not in allowed and one["type"] not in allowed:
            raise bad_request(
                f"Link role '{role}' does not join type '{one['type']}'.",
                pointer=f"{pointer}.attributes.role",
            )


def options(model: DataModel) -> list[dict[str, object]]:
    """The link roles as an enumeration lists them."""
    return [
        {"id": role.id, "name": role.name, "oppositeName": role.opposite, "default": False}
        for role in model.link_roles.values()
    ]
