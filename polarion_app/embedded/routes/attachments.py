"""Attachments of a work item: multipart in, a stream of bytes out."""

import sqlite3
from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

from aiohttp import BodyPartReader, MultipartReader, web

from polarion_app.embedded import bodies
from polarion_app.embedded.bodies import Incoming
from polarion_app.embedded.database import Change
from polarion_app.embedded.documents import Page, Resource
from polarion_app.embedded.errors import ApiError, bad_request
from polarion_app.embedded.files import CHUNK
from polarion_app.embedded.records import attachments, included
from polarion_app.embedded.records.attachments import StoredFile
from polarion_app.embedded.routes.call import Call, Route, created, no_content
from polarion_app.embedded.routes.workitems import ITEM

ATTACHMENTS = f"{ITEM}/attachments"
ATTACHMENT = f"{ATTACHMENTS}/{{a}}"
KIND = "workitem_attachments"


@dataclass(slots=True)
class _Form:
    """The parts of one request: the resource's JSON, and files by the name of their part."""

    resource: Any = None
    files: list[tuple[str, StoredFile]] = field(default_factory=list)

    def file_for(self, place: int, lid: object) -> StoredFile:
        """The file of the resource at `place`: the part named by its lid, else in the same order."""
        for name, stored in self.files:
            if lid and name == lid:
                return stored
        in_order = [stored for name, stored in self.files if name in ("files", "content")]
        if place >= len(in_order):
            raise bad_request("A file is missing in the request.", pointer=f"$.data[{place}]")
        return in_order[place]


async def list_attachments(call: Call) -> web.StreamResponse:
    def work(db: sqlite3.Connection) -> tuple[Page, list[Resource]]:
        page = attachments.listed(db, call.base, call.item(db, "GET"), *call.page_at)
        include = call.param("include")
        return page, included.included(db, call.base, page.resources, include, call.caller)

    return call.page(*await call.read(work))


async def get_attachment(call: Call) -> web.StreamResponse:
    def work(db: sqlite3.Connection) -> Resource:
        row = call.item(db, "GET")
        return attachments.resource(call.base, row, attachments.find(db, row, call.path("a")))

    return call.one(await call.read(work))


async def get_content(call: Call) -> web.StreamResponse:
    """The bytes, always as octet-stream: no browser should run what an agent attached."""
    found = await call.read(lambda db: attachments.find(db, call.item(db, "GET"), call.path("a")))
    headers = {"X-Content-Type-Options": "nosniff", "Content-Disposition": "attachment"}
    response = web.StreamResponse(headers=headers)
    response.content_type = "application/octet-stream"
    async with aclosing(call.api.files.chunks(found["file"])) as chunks:
        first = await anext(chunks, b"")  # a file that can't be read is still an error here
        await response.prepare(call.request)
        await response.write(first)
        async for chunk in chunks:
            await response.write(chunk)
    await response.write_eof()
    return response


async def create_attachments(call: Call) -> web.StreamResponse:
    await call.read(lambda db: call.item(db, "POST"))  # before megabytes are taken in
    form = await _form(call)
    try:
        sent = bodies.many(form.resource, KIND)
        lids = [row.get("lid") for row in form.resource["data"]]

        def work(change: Change) -> list[Resource]:
            row = call.item(change.db, "POST")
            made = [
                attachments.create(change, row, one, form.file_for(place, lids[place]))
                for place, one in enumerate(sent)
            ]
            return [attachments.resource(call.base, row, one) for one in made]

        made = await call.write(work)
    except BaseException:
        await _discard(call, form)
        raise
    return created(made)


async def patch_attachment(call: Call) -> web.StreamResponse:
    await call.read(lambda db: call.item(db, "PATCH"))
    form = await _form(call)
    try:
        sent: Incoming = bodies.one(form.resource, KIND)
        stored = form.file_for(0, None) if form.files else None
        old = await call.write(
            lambda change: attachments.update(
                change, call.item(change.db, "PATCH"), call.path("a"), sent, stored
            )
        )
    except BaseException:
        await _discard(call, form)
        raise
    await call.api.files.remove([old] if old else [])
    return no_content()


async def delete_attachment(call: Call) -> web.StreamResponse:
    file = await call.write(
        lambda change: attachments.delete(change, call.item(change.db, "DELETE"), call.path("a"))
    )
    await call.api.files.remove([file])
    return no_content()


async def _form(call: Call) -> _Form:
    """Take in all parts. Raises: ApiError 400, 413, 415; then no file is left."""
    call.require_content_type("multipart/form-data")
    form = _Form()
    try:
        async for part in await call.request.multipart():
            await _take_in(call, form, part)
    except ApiError:
        await _discard(call, form)
        raise
    except (ValueError, AssertionError) as error:  # how aiohttp reports a form that is none
        await _discard(call, form)
        raise bad_request("The multipart body can't be read.") from error
    except BaseException:
        await _discard(call, form)
        raise
    if form.resource is None:
        await _discard(call, form)
        raise bad_request("Resource data not found in request.")
    return form


async def _take_in(call: Call, form: _Form, part: MultipartReader | BodyPartReader | None) -> None:
    if not isinstance(part, BodyPartReader):
        raise bad_request("Parts can't be nested.")
    if part.name == "resource":
        limit = call.api.options.body_size_limit
        form.resource = bodies.parse(b"".join([chunk async for chunk in _chunks(part, limit)]))
        return
    limit = call.api.options.attachment_size_limit
    taken = sum(stored.length for _, stored in form.files)
    file, length = await call.api.files.store(_chunks(part, None), limit - taken)
    form.files.append((part.name or "", StoredFile(file, length, part.filename)))


async def _chunks(part: BodyPartReader, limit: int | None) -> AsyncIterator[bytes]:
    length = 0
    while chunk := await part.read_chunk(CHUNK):
        length += len(chunk)
        if limit is not None and length > limit:
            raise bad_request(f"The resource part has {limit} bytes at most.")
        yield bytes(chunk)


async def _discard(call: Call, form: _Form) -> None:
    await call.api.files.remove([stored.file for _, stored in form.files])


ROUTES: tuple[Route, ...] = (
    ("GET", ATTACHMENTS, list_attachments),
    ("POST", ATTACHMENTS, create_attachments),
    ("GET", ATTACHMENT, get_attachment),
    ("PATCH", ATTACHMENT, patch_attachment),
    ("DELETE", ATTACHMENT, delete_attachment),
    ("GET", f"{ATTACHMENT}/content", get_content),
)
