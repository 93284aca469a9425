"""Comments and links of a work item."""

import sqlite3

from aiohttp import web

from polarion_app.embedded import bodies
from polarion_app.embedded.database import Change
from polarion_app.embedded.documents import Page, Resource
from polarion_app.embedded.errors import bad_request
from polarion_app.embedded.records import comments, included, items, links
from polarion_app.embedded.routes.call import Call, Route, created, no_content
from polarion_app.embedded.routes.workitems import ITEM

COMMENTS = f"{ITEM}/comments"
LINKS = f"{ITEM}/linkedworkitems"
LINK = f"{LINKS}/{{role}}/{{tp}}/{{tw}}"


async def list_comments(call: Call) -> web.StreamResponse:
    def work(db: sqlite3.Connection) -> tuple[Page, list[Resource]]:
        return _with_included(
            call, db, comments.listed(db, call.base, call.item(db, "GET"), *call.page_at)
        )

    return call.page(*await call.read(work))


async def get_comment(call: Call) -> web.StreamResponse:
    def work(db: sqlite3.Connection) -> Resource:
        row = call.item(db, "GET")
        return comments.resource(db, call.base, row, comments.find(db, row, call.path("c")))

    return call.one(await call.read(work))


async def create_comments(call: Call) -> web.StreamResponse:
    sent = bodies.many(await call.json(), "workitem_comments")

    def work(change: Change) -> list[Resource]:
        row = call.item(change.db, "POST")
        made = [comments.create(change, row, one) for one in sent]
        return [comments.resource(change.db, call.base, row, one) for one in made]

    return created(await call.write(work))


async def patch_comment(call: Call) -> web.StreamResponse:
    sent = bodies.one(await call.json(), "workitem_comments")
    await call.write(
        lambda change: comments.resolve(change, call.item(change.db, "PATCH"), call.path("c"), sent)
    )
    return no_content()


async def list_links(call: Call) -> web.StreamResponse:
    def work(db: sqlite3.Connection) -> tuple[Page, list[Resource]]:
        return _with_included(
            call, db, links.listed(db, call.base, call.item(db, "GET"), *call.page_at)
        )

    return call.page(*await call.read(work))


async def list_back_links(call: Call) -> web.StreamResponse:
    caller = call.caller
    projects = None if caller.reads_everything else caller.readable_projects

    def work(db: sqlite3.Connection) -> Page:
        return links.listed_back(db, call.base, call.item(db, "GET"), projects, call.page_at)

    return call.page(await call.read(work))


async def get_link(call: Call) -> web.StreamResponse:
    def work(db: sqlite3.Connection) -> tuple[Resource, list[Resource]]:
        row = call.item(db, "GET")
        found = links.resource(call.base, row, links.find(db, row, *_role_and_target(call)))
        return found, included.included(db, call.base, [found], call.param("include"), call.caller)

    return call.one(*await call.read(work))


async def create_links(call: Call) -> web.StreamResponse:
    sent = bodies.many(await call.json(), "linkedworkitems")

    def work(change: Change) -> list[Resource]:
        row = call.item(change.db, "POST")
        made = [links.create(change, row, one, call.rules) for one in sent]
        return [links.resource(call.base, row, one) for one in made]

    return created(await call.write(work))


async def patch_link(call: Call) -> web.StreamResponse:
    sent = bodies.one(await call.json(), "linkedworkitems")
    await call.write(
        lambda change: links.update(
            change, call.item(change.db, "PATCH"), *_role_and_target(call), sent
        )
    )
    return no_content()


async def delete_link(call: Call) -> web.StreamResponse:
    await call.write(
        lambda change: links.delete(change, call.item(change.db, "DELETE"), *_role_and_target(call))
    )
    return no_content()


async def delete_links(call: Call) -> web.StreamResponse:
    references = bodies.references(await call.json(), "linkedworkitems")

    def work(change: Change) -> None:
        row = call.item(change.db, "DELETE")
        own = f"{items.full_id(row)}/"
        for reference in references:
            if not reference.id.startswith(own):
                raise bad_request(
                    f"'{reference.id}' is no link of this work item.", pointer="$.data"
                )
            role, _, target = reference.id.removeprefix(own).partition("/")
            links.delete(change, row, role, target)

    await call.write(work)
    return no_content()


def _role_and_target(call: Call) -> tuple[str, str]:
    return call.path("role"), f"{call.path('tp')}/{call.path('tw')}"


def _with_included(call: Call, db: sqlite3.Connection, page: Page) -> tuple[Page, list[Resource]]:
    include = call.param("include")
    return page, included.included(db, call.base, page.resources, include, call.caller)


ROUTES: tuple[Route, ...] = (
    ("GET", COMMENTS, list_comments),
    ("POST", COMMENTS, create_comments),
    ("GET", f"{COMMENTS}/{{c}}", get_comment),
    ("PATCH", f"{COMMENTS}/{{c}}", patch_comment),
    ("GET", LINKS, list_links),
    ("POST", LINKS, create_links),
    ("DELETE", LINKS, delete_links),
    ("GET", LINK, get_link),
    ("PATCH", LINK, patch_link),
    ("DELETE", LINK, delete_link),
    ("GET", f"{ITEM}/backlinkedworkitems", list_back_links),
)
