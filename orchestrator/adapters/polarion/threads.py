"""What hangs on a work item: comments, links, attachments."""

import io
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import orjson
from yarl import URL

from orchestrator.adapters.polarion.address import Address, sparse
from orchestrator.adapters.polarion.locks import KeyedLocks
from orchestrator.adapters.polarion.paging import ids_of, pages
from orchestrator.adapters.polarion.resources import (
    Attachment,
    Comment,
    Link,
    Text,
    encoded,
    split_item,
)
from orchestrator.adapters.polarion.transport import Transport

MAX_DOWNLOAD_BYTES = 256 * 1024 * 1024
_OCTETS = "application/octet-stream"


class _OfItem:
    """A collection below work items, at one path segment."""

    segment = ""

    def __init__(self, api: Transport, address: Address, locks: KeyedLocks) -> None:
        self._api = api
        self._address = address
        self._locks = locks

    def _url(self, item: str, *more: str, query: dict[str, str] | None = None) -> URL:
        project, inner = split_item(item)
        return self._address.of(
            "projects", project, "workitems", inner, self.segment, *more, query=query
        )

    async def _post(self, item: str, row: dict[str, Any], what: str) -> str:
        async with self._locks.holding(item):
            body = await self._api.post(self._url(item), {"data": [row]}, what)
        return ids_of(body, what)[0]


class Comments(_OfItem):
    """Comments can be added and read, nothing else. Everything raises `entrance.errors`."""

    segment = "comments"

    async def of(self, item: str) -> list[Comment]:
        """The item's comments, oldest first."""
        url = self._url(item, query=sparse(workitem_comments="@all"))
        rows = pages(self._api, url, f"reading the comments of {item}")
        return sorted([Comment.read(row) async for row in rows], key=lambda one: one.created)

    async def add(
        self, item: str, text: Text, *, title: str = "", parent: str | None = None
    ) -> str:
        """Add one, once; its full id. `parent`: the full id of the comment that it answers."""
        attributes: dict[str, Any] = {"text": encoded(text), "resolved": False}
        if title:
            attributes["title"] = encoded(title)
        row: dict[str, Any] = {"type": "workitem_comments", "attributes": attributes}
        if parent:
            row["relationships"] = {
                "parentComment": {"data": {"type": "workitem_comments", "id": parent}}
            }
        return await self._post(item, row, f"commenting on {item}")


class Links(_OfItem):
    """Links that start at a work item, or end there. Everything raises `entrance.errors`."""

    segment = "linkedworkitems"

    async def of(self, item: str) -> list[Link]:
        """The links that start at the item."""
        url = self._url(item, query=sparse(linkedworkitems="@all"))
        return [
            Link.read(row) async for row in pages(self._api, url, f"reading the links of {item}")
        ]

    async def back(self, item: str) -> list[Link]:
        """The links that end at the item. Raises: NotFound before Polarion 2512, too."""
        project, inner = split_item(item)
        url = self._address.of(
            *("projects", project, "workitems", inner, "backlinkedworkitems"),
            query=sparse(linkedworkitems="@all"),
        )
        return [
            Link.read(row) async for row in pages(self._api, url, f"reading the links to {item}")
        ]

    async def add(self, item: str, role: str, target: str) -> None:
        """Link `item` to `target` (full ids). Raises: Conflict when they are linked so already."""
        split_item(target)
        row = {
            "type": "linkedworkitems",
            "attributes": {"role": role, "suspect": False},
            "relationships": {"workItem": {"data": {"type": "workitems", "id": target}}},
        }
        await self._post(item, row, f"linking {item} to {target}")

    async def remove(self, item: str, role: str, target: str) -> None:
        body = {"data": [{"type": "linkedworkitems", "id": f"{item}/{role}/{target}"}]}
        async with self._locks.holding(item):
            await self._api.delete(self._url(item), body, f"unlinking {item} from {target}")


class Attachments(_OfItem):
    """Files on a work item. Everything raises `entrance.errors`."""

    segment = "attachments"

    async def of(self, item: str) -> list[Attachment]:
        url = self._url(item, query=sparse(workitem_attachments="@all"))
        rows = pages(self._api, url, f"reading the attachments of {item}")
        return [Attachment.read(row) async for row in rows]

    async def add(self, item: str, name: str, content: bytes | Path, *, title: str = "") -> str:
        """Attach bytes or a file under `name`; its full id. A file is read as it is sent.

        Raises: Conflict when the item has one of that name; OSError when the file can't be read.
        """
        attributes = {"fileName": name, "title": title or name}
        resource = {
            "data": [{"type": "workitem_attachments", "lid": "file", "attributes": attributes}]
        }
        what = f"attaching {name!r} to {item}"
        file = content.open("rb") if isinstance(content, Path) else io.BytesIO(content)
        try:
            form = aiohttp.FormData(quote_fields=True)
            form.add_field(
                "resource", orjson.dumps(resource).decode(), content_type="application/json"
            )
            form.add_field("files", file, filename=name, content_type=_OCTETS)
            async with self._locks.holding(item):
                return ids_of(await self._api.upload(self._url(item), form, what), what)[0]
        finally:
            file.close()

    async def content(
        self, attachment: str, *, limit_bytes: int = MAX_DOWNLOAD_BYTES
    ) -> AsyncIterator[bytes]:
        """The attachment's bytes (full id). Raises: Malformed when there are more than the limit."""
        project, item, inner = attachment.split("/", 2)
        url = self._url(f"{project}/{item}", inner, "content")
        async for chunk in self._api.download(url, f"reading attachment {attachment}", limit_bytes):
            yield chunk
