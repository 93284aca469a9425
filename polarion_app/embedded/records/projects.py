"""Projects, and the jobs that made them."""

import json
import re
import sqlite3
from typing import Any, get_args

from polarion_app.config.model import ProjectKind
from polarion_app.embedded import values
from polarion_app.embedded.bodies import Incoming
from polarion_app.embedded.database import Change
from polarion_app.embedded.documents import Page, Resource
from polarion_app.embedded.errors import bad_request, conflict, not_found
from polarion_app.embedded.permissions import Caller
from polarion_app.embedded.records.urls import segment

PROJECT_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
PREFIX = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,15}")


def find(db: sqlite3.Connection, project: str) -> sqlite3.Row:
    """Raises: ApiError 404."""
    row: sqlite3.Row | None = db.execute(
        "SELECT * FROM project WHERE id = ?", (project,)
    ).fetchone()
    if row is None:
        raise not_found("projects", project)
    return row


def resource(base: str, row: sqlite3.Row) -> Resource:
    attributes = {
        "id": row["id"],
        "name": row["name"],
        "active": bool(row["active"]),
        "trackerPrefix": row["tracker_prefix"],
        "start": row["created"][:10],
        "templateId": row["kind"],
    }
    if row["description"] is not None:
        attributes["description"] = json.loads(row["description"])
    return Resource(
        "projects",
        row["id"],
        attributes,
        links={"self": f"{base}/projects/{segment(row['id'])}"},
        revision=str(row["revision"]),
    )


def listed(db: sqlite3.Connection, base: str, caller: Caller, size: int, number: int) -> Page:
    """The projects that the caller may read."""
    scope, bound = "1", ()
    if not caller.reads_everything:
        scope = "id IN (SELECT value FROM json_each(?))"
        bound = (json.dumps(caller.readable_projects),)  # type: ignore[assignment]
    total = db.execute(f"SELECT count(*) FROM project WHERE {scope}", bound).fetchone()[0]  # noqa: S608 - fixed pieces
    rows = db.execute(
        f"SELECT * FROM project WHERE {scope} ORDER BY id LIMIT ? OFFSET ?",  # noqa: S608 - fixed pieces
        (*bound, size, (number - 1) * size),
    ).fetchall()
    return Page([resource(base, row) for row in rows], total, size, number)


def create(change: Change, project: str, name: str, prefix: str, kind: str) -> None:
    """Raises: ApiError 400, 409."""
    if not PROJECT_ID.fullmatch(project):
        raise bad_request(
            "A project id has 1 to 64 letters, digits and . _ -", pointer="$.projectId"
        )
    if not PREFIX.fullmatch(prefix):
        raise bad_request(
            "A tracker prefix has 1 to 16 letters and digits.", pointer="$.trackerPrefix"
        )
    if kind not in get_args(ProjectKind):
        raise bad_request(f"There is no project template '{kind}'.", pointer="$.templateId")
    if change.db.execute("SELECT 1 FROM project WHERE id = ?", (project,)).fetchone():
        raise conflict(f"Project '{project}' exists already.", pointer="$.projectId")
    change.db.execute(
        "INSERT INTO project (id, name, kind, tracker_prefix, created, revision)"
        " VALUES (?, ?, ?, ?, ?, ?)",
        (project, name, kind, prefix, change.at, change.revision),
    )


def update(change: Change, project: str, sent: Incoming) -> None:
    """Change name, description or active. Raises: ApiError 400, 404."""
    find(change.db, project)
    columns: dict[str, Any] = {"revision": change.revision}
    for key, value in sent.attributes.items():
        where = f"{sent.pointer}.attributes.{key}"
        match key:
            case "name":
                columns[key] = values.string(value, where)
            case "active":
                columns[key] = values.boolean(value, where)
            case "description":
                columns[key] = json.dumps(values.rich_text(value, where))
            case _:
                continue  # everything else is fixed at creation
    pieces = ", ".join(f"{column} = ?" for column in columns)
    change.db.execute(f"UPDATE project SET {pieces} WHERE id = ?", (*columns.values(), project))  # noqa: S608 - columns are literals of ours


def add_finished_job(change: Change, name: str, message: str) -> str:
    """Record a job that is done already, for clients that ask how it went; returns its id."""
    job = f"job-{change.revision}"
    change.db.execute("INSERT INTO job VALUES (?, ?, 'FINISHED', 'OK', ?)", (job, name, message))
    return job


def job(db: sqlite3.Connection, base: str, job_id: str) -> Resource:
    """Raises: ApiError 404."""
    row = db.execute("SELECT * FROM job WHERE id = ?", (job_id,)).fetchone()
    if row is None:
        raise not_found("jobs", job_id)
    return Resource(
        "jobs",
        job_id,
        {
            "jobId": job_id,
            "name": row["name"],
            "state": row["state"],
            "status": {"type": row["status"], "message": row["message"]},
        },
        links={"self": f"{base}/jobs/{segment(job_id)}"},
    )
