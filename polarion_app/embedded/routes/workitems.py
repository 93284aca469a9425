"""Work items: lists, queries, creation, change, deletion, workflow, relationships."""

import sqlite3
from datetime import datetime
from typing import Any

from aiohttp import web

from polarion_app.config.model import Verb
from polarion_app.embedded import bodies, workflow
from polarion_app.embedded.database import Change
from polarion_app.embedded.documents import Page, Resource, to_many
from polarion_app.embedded.errors import bad_request, conflict, not_found
from polarion_app.embedded.query.fields import REFERENCES, Condition
from polarion_app.embedded.query.sorting import order
from polarion_app.embedded.query.sql import condition
from polarion_app.embedded.query.terms import BadQuery
from polarion_app.embedded.records import changes, included, items
from polarion_app.embedded.records.changes import Move
from polarion_app.embedded.routes.call import (
    PREFIX,
    Call,
    Route,
    answer,
    created,
    no_content,
)

ITEMS = f"{PREFIX}/projects/{{p}}/workitems"
ITEM = f"{ITEMS}/{{w}}"
RELATIONSHIP = f"{ITEM}/relationships/{{r}}"


async def list_items(call: Call) -> web.StreamResponse:
    def work(db: sqlite3.Connection) -> tuple[Page, list[Resource]]:
        return _page(call, db, items.in_project(call.project(db, "GET")["id"]))

    return call.page(*await call.read(work))


async def list_all(call: Call) -> web.StreamResponse:
    scope = items.readable_by(call.caller)
    return call.page(*await call.read(lambda db: _page(call, db, scope)))


async def get_item(call: Call) -> web.StreamResponse:
    def work(db: sqlite3.Connection) -> tuple[Resource, list[Resource]]:
        found = items.resource(db, call.base, call.item(db, "GET"), _wanted(call))
        return found, included.included(db, call.base, [found], call.param("include"), call.caller)

    return call.one(*await call.read(work))


async def create_items(call: Call) -> web.StreamResponse:
    sent = bodies.many(await call.json(), "workitems")

    def work(change: Change) -> list[Resource]:
        project = call.project(change.db, "POST")["id"]
        ids = [changes.create(change, project, one, call.rules) for one in sent]
        rows = [items.find(change.db, project, one) for one in ids]
        return [items.resource(change.db, call.base, row, lambda _: False) for row in rows]

    return created(await call.write(work))


async def patch_item(call: Call) -> web.StreamResponse:
    sent = bodies.one(await call.json(), "workitems")
    wanted = f"{call.path('p')}/{call.path('w')}"
    if sent.id != wanted:
        raise conflict(f"The id must be '{wanted}', as in the address.", pointer="$.data.id")
    move = _move(call)
    await call.write(
        lambda change: changes.update(change, call.item(change.db, "PATCH"), sent, move, call.rules)
    )
    return no_content()


async def patch_items(call: Call) -> web.StreamResponse:
    """Bulk: all of it or nothing. Below `/all` the ids name the projects."""
    sent = bodies.many(await call.json(), "workitems")
    move = _move(call)

    def work(change: Change) -> None:
        for one in sent:
            row = _named(call, change.db, one.id or "", "PATCH")
            changes.update(change, row, one, move, call.rules)

    await call.write(work)
    return no_content()


async def delete_items(call: Call) -> web.StreamResponse:
    references = bodies.references(await call.json(), "workitems")

    def work(change: Change) -> list[str]:
        rows = [_named(call, change.db, one.id, "DELETE") for one in references]
        return [file for row in rows for file in changes.delete(change, row)]

    await call.api.files.remove(await call.write(work))
    return no_content()


async def workflow_actions(call: Call) -> web.StreamResponse:
    def work(db: sqlite3.Connection) -> list[dict[str, Any]]:
        row = call.item(db, "GET")
        return workflow.listed(
            call.api.model.types.get(row["type"]),
            row["status"],
            lambda roles: call.caller.holds_one_of(roles, row["project"]),
        )

    return answer({"links": {"self": str(call.request.url)}, "data": await call.read(work)})


async def get_relationship(call: Call) -> web.StreamResponse:
    name = call.path("r")

    def work(db: sqlite3.Connection) -> Any:
        found = items.resource(db, call.base, call.item(db, "GET"))
        if name in found.relationships:
            return found.relationships[name]
        if name in REFERENCES:
            return to_many([])
        raise not_found("workitems", f"{found.id}/{name}")

    return answer(await call.read(work))


async def patch_relationship(call: Call) -> web.StreamResponse:
    """Replace a multi-valued relationship whole; POST adds to it, DELETE takes from it."""
    body = await call.json()
    name, verb = call.path("r"), call.request.method
    if name not in REFERENCES:
        raise bad_request(f"'{name}' is not changed by this request.")
    sent = bodies.identifiers(body)

    def work(change: Change) -> None:
        row = call.item(change.db, "PATCH")
        now = [
            bodies.Reference(one["type"], one["target"])
            for one in change.db.execute(
                "SELECT type, target FROM reference WHERE item = ? AND name = ? ORDER BY place",
                (row["rowid"], name),
            )
        ]
        kept = {"PATCH": [], "POST": now, "DELETE": [one for one in now if one not in sent]}[verb]
        added = [] if verb == "DELETE" else sent
        changes.replace_references(change, row, name, (*kept, *added))

    await call.write(work)
    return no_content()


def _page(call: Call, db: sqlite3.Connection, scope: Condition) -> tuple[Page, list[Resource]]:
    now = datetime.fromisoformat(call.api.database.now())
    try:
        wanted = condition(call.param("query"), call.api.model, now)
    except BadQuery as error:
        raise bad_request(str(error), parameter="query") from error
    try:
        ordered = order(call.param("sort"))
    except BadQuery as error:
        raise bad_request(str(error), parameter="sort") from error
    rows, total = items.selected(db, (scope, wanted), ordered, *call.page_at)
    found = [items.resource(db, call.base, row, _wanted(call)) for row in rows]
    others = included.included(db, call.base, found, call.param("include"), call.caller)
    return Page(found, total, *call.page_at), others


def _wanted(call: Call) -> items.Wanted:
    steps = included.first_steps(call.param("include"))
    return lambda name: name in steps or call.fields.keep("workitems", name)


def _move(call: Call) -> Move:
    return Move(call.param("workflowAction") or None, call.param("changeTypeTo") or None)


def _named(call: Call, db: sqlite3.Connection, full_id: str, verb: Verb) -> sqlite3.Row:
    """An item of a bulk request. Raises: ApiError 400, 403, 404."""
    project, _, item = full_id.partition("/")
    if "p" in call.request.match_info:
        call.project(db, verb)
        if project != call.path("p"):
            raise bad_request(
                f"'{full_id}' is not in project '{call.path('p')}'.", pointer="$.data"
            )
    call.caller.require(verb, project)
    return items.find(db, project, item)


ROUTES: tuple[Route, ...] = (
    ("GET", f"{PREFIX}/all/workitems", list_all),
    ("PATCH", f"{PREFIX}/all/workitems", patch_items),
    ("DELETE", f"{PREFIX}/all/workitems", delete_items),
    ("GET", ITEMS, list_items),
    ("POST", ITEMS, create_items),
    ("PATCH", ITEMS, patch_items),
    ("DELETE", ITEMS, delete_items),
    ("GET", ITEM, get_item),
    ("PATCH", ITEM, patch_item),
    ("GET", f"{ITEM}/actions/getWorkflowActions", workflow_actions),
    ("GET", RELATIONSHIP, get_relationship),
    ("POST", RELATIONSHIP, patch_relationship),
    ("PATCH", RELATIONSHIP, patch_relationship),
    ("DELETE", RELATIONSHIP, patch_relationship),
)
