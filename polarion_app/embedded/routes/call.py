"""One request as its handler sees it: who calls, the store, and how answers look."""

import sqlite3
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Self

import orjson
from aiohttp import web

from polarion_app.config.model import DataModel, Verb
from polarion_app.embedded import bodies
from polarion_app.embedded.database import Change, Database
from polarion_app.embedded.documents import (
    Page,
    Resource,
    SparseFields,
    many,
    page_wanted,
    single,
    sparse_fields,
)
from polarion_app.embedded.errors import ApiError, bad_request
from polarion_app.embedded.files import Files
from polarion_app.embedded.options import Options
from polarion_app.embedded.permissions import Caller
from polarion_app.embedded.records import items, projects
from polarion_app.embedded.records.changes import Rules

PREFIX = "/polarion/rest/v1"
EMBEDDED = "/polarion/embedded"
JSON = "application/json"


@dataclass(frozen=True, slots=True)
class Api:
    """What all requests share."""

    database: Database
    files: Files
    model: DataModel
    options: Options


API = web.AppKey("api", Api)
CALLER = web.RequestKey("caller", Caller)


@dataclass(frozen=True, slots=True)
class Call:
    """One authenticated request."""

    request: web.Request
    api: Api
    caller: Caller
    base: str
    fields: SparseFields

    @classmethod
    def of(cls, request: web.Request) -> Self:
        """Raises: ApiError 400 for control characters in the address, and for `revision`."""
        if any(bodies.CONTROLS.search(part) for part in request.match_info.values()):
            raise bad_request("A path can't hold control characters.")
        for name, value in request.query.items():
            if bodies.CONTROLS.search(value):
                raise bad_request("A parameter can't hold control characters.", parameter=name)
        if "revision" in request.query:
            raise bad_request("This server keeps no history.", parameter="revision")
        base = f"{request.scheme}://{request.host}{PREFIX}"
        fields = sparse_fields(request.query)
        return cls(request, request.app[API], request[CALLER], base, fields)

    @property
    def rules(self) -> Rules:
        return Rules(self.caller, self.api.model, self.api.options.strict)

    @property
    def page_at(self) -> tuple[int, int]:
        """The wanted page's size and number. Raises: ApiError 400."""
        options = self.api.options
        return page_wanted(self.request.query, options.default_page_size, options.max_page_size)

    def path(self, name: str) -> str:
        """A path segment, decoded once."""
        return self.request.match_info[name]

    def param(self, name: str) -> str:
        """A query parameter; empty when it is not there."""
        return self.request.query.get(name, "")

    async def read[T](self, work: Callable[[sqlite3.Connection], T]) -> T:
        return await self.api.database.read(work)

    async def write[T](self, work: Callable[[Change], T]) -> T:
        return await self.api.database.write(self.caller.user, work)

    async def json(self) -> Any:
        """The body. Raises: ApiError 400, 415; aiohttp's own 413."""
        self.require_content_type(JSON)
        return bodies.parse(await self.request.read())

    def require_content_type(self, wanted: str) -> None:
        if self.request.headers.get("Content-Type", "").split(";")[0].strip().lower() != wanted:
            raise ApiError(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, f"Content-Type must be {wanted}.")

    def project(self, db: sqlite3.Connection, verb: Verb) -> sqlite3.Row:
        """The path's project, if the caller may. Raises: ApiError 403, 404."""
        row = projects.find(db, self.path("p"))
        self.caller.require(verb, row["id"])
        return row

    def item(self, db: sqlite3.Connection, verb: Verb) -> sqlite3.Row:
        """The path's work item, if the caller may. Raises: ApiError 403, 404."""
        return items.find(db, self.project(db, verb)["id"], self.path("w"))

    def one(self, resource: Resource, included: Sequence[Resource] = ()) -> web.Response:
        return answer(single(resource, self.fields, self.request.url, included))

    def page(self, page: Page, included: Sequence[Resource] = ()) -> web.Response:
        return answer(many(page, self.fields, self.request.url, included))


def answer(body: Any, status: HTTPStatus = HTTPStatus.OK) -> web.Response:
    return web.Response(body=orjson.dumps(body), status=status, content_type=JSON)


def created(resources: Sequence[Resource]) -> web.Response:
    """201 with ids and links only."""
    rows = [{"type": one.type, "id": one.id, "links": dict(one.links)} for one in resources]
    return answer({"data": rows}, HTTPStatus.CREATED)


def no_content() -> web.Response:
    return web.Response(status=HTTPStatus.NO_CONTENT)


type Handler = Callable[[Call], Awaitable[web.StreamResponse]]
type Route = tuple[Verb, str, Handler]
"""Method, path below the prefix, handler."""


def routed(handler: Handler) -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
    """The handler as aiohttp calls it."""

    async def handle(request: web.Request) -> web.StreamResponse:
        return await handler(Call.of(request))

    return handle
