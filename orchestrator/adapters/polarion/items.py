"""Work items: read, query, create, change."""

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from typing import Any

import orjson

from orchestrator.adapters.polarion.address import Address, sparse
from orchestrator.adapters.polarion.locks import KeyedLocks
from orchestrator.adapters.polarion.paging import data_of, ids_of, pages
from orchestrator.adapters.polarion.resources import (
    NewItem,
    Text,
    WorkItem,
    author_in,
    encoded,
    split_item,
)
from orchestrator.adapters.polarion.transport import Transport

PAGE_SIZE = 100
BATCH_COUNT = 100
BATCH_BYTES = 2 * 1024 * 1024 - 64 * 1024
"""Polarion takes bodies of 2 MiB; some room is left for what stands around the items."""


class Items:
    """Work items by their full id, `PROJECT/ITEM`. Everything raises `entrance.errors`."""

    def __init__(self, api: Transport, address: Address, locks: KeyedLocks) -> None:
        self._api = api
        self._address = address
        self._locks = locks

    async def get(self, item: str) -> WorkItem:
        """Raises: NotFound, Forbidden, Unavailable, Malformed."""
        project, inner = split_item(item)
        url = self._address.of(
            "projects", project, "workitems", inner, query=sparse(workitems="@all")
        )
        what = f"reading work item {item}"
        return WorkItem.read(data_of(await self._api.get(url, what), what))

    async def author_of(self, revision: str) -> str:
        """Who made a revision, as an item's `revision` names it. Raises: NotFound, Unavailable."""
        repository, _, number = revision.rpartition("/")
        url = self._address.of(
            "revisions", repository or "default", number, query=sparse(revisions="@all")
        )
        what = f"reading revision {revision}"
        return author_in(data_of(await self._api.get(url, what), what))

    async def query(
        self,
        query: str,
        *,
        project: str | None = None,
        sort: str = "",
        page_size: int = PAGE_SIZE,
        fields: Sequence[str] = ("@all",),
    ) -> AsyncIterator[WorkItem]:
        """Every item that matches, of one project or of all that may be read, with these fields.

        Raises: Rejected when Polarion can't read the query; Forbidden, Unavailable, Malformed.
        """
        scope = ("projects", project, "workitems") if project else ("all", "workitems")
        parameters = {
            **sparse(workitems=",".join(fields)),
            "query": query,
            "page[size]": str(page_size),
        }
        if sort:
            parameters["sort"] = sort
        url = self._address.of(*scope, query=parameters)
        async for row in pages(self._api, url, f"querying work items by {query!r}"):
            yield WorkItem.read(row)

    async def create(self, project: str, new: NewItem) -> str:
        """Make one item and return its full id. Never tried again: see `create_many`."""
        return (await self.create_many(project, [new]))[0]

    async def create_many(self, project: str, new: Sequence[NewItem]) -> list[str]:
        """Make items in as few requests as Polarion's limits allow; the ids in the same order.

        After Unavailable some may exist: look for them by a field of your own, `runKey` for
        example, before another try.
        """
        url = self._address.of("projects", project, "workitems")
        what = f"creating work items in project {project}"
        ids: list[str] = []
        for batch in batches([_new(one) for one in new]):
            ids += ids_of(await self._api.post(url, {"data": batch}, what), what)
        return ids

    async def update(
        self,
        item: str,
        *,
        title: str | None = None,
        status: str | None = None,
        description: Text | None = None,
        assignees: Sequence[str] | None = None,
        custom: Mapping[str, Any] | None = None,
        workflow_action: str | None = None,
    ) -> None:
        """Change what is given and leave the rest; None in `custom` clears that field.

        With a `workflow_action` it is sent once only. Raises: Conflict when the item's status
        doesn't have the action, or a field that it requires is empty.
        """
        attributes = _attributes(
            title=title, status=status, description=description, custom=custom or {}
        )
        async with self._locks.holding(item):
            if workflow_action and not attributes:
                # Polarion refuses an action without any attribute on some resources.
                attributes = {"title": (await self.get(item)).title}
            data: dict[str, Any] = {"type": "workitems", "id": item, "attributes": attributes}
            if assignees is not None:
                data["relationships"] = {"assignee": {"data": _users(assignees)}}
            project, inner = split_item(item)
            query = {"workflowAction": workflow_action} if workflow_action else None
            url = self._address.of("projects", project, "workitems", inner, query=query)
            what = f"changing work item {item}"
            await self._api.patch(url, {"data": data}, what, absolute=workflow_action is None)

    async def delete(self, item: str) -> None:
        project, _ = split_item(item)
        url = self._address.of("projects", project, "workitems")
        body = {"data": [{"type": "workitems", "id": item}]}
        async with self._locks.holding(item):
            await self._api.delete(url, body, f"deleting work item {item}")

    async def actions(self, item: str) -> list[str]:
        """The workflow actions that the caller may do now, by their configured ids."""
        project, inner = split_item(item)
        url = self._address.of(
            "projects", project, "workitems", inner, "actions", "getWorkflowActions"
        )
        rows = pages(self._api, url, f"reading the actions of work item {item}")
        return [str(row.get("nativeActionId")) async for row in rows if row.get("available")]


def batches(rows: Sequence[Mapping[str, Any]]) -> Iterator[list[Mapping[str, Any]]]:
    """Rows in lists that fit into one body, in order; one that is too large alone goes alone."""
    batch: list[Mapping[str, Any]] = []
    size = 0
    for row in rows:
        length = len(orjson.dumps(row)) + 1
        if batch and (len(batch) == BATCH_COUNT or size + length > BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(row)
        size += length
    if batch:
        yield batch


def _new(new: NewItem) -> dict[str, Any]:
    attributes = _attributes(
        title=new.title, status=new.status, description=new.description, custom=new.custom
    )
    row: dict[str, Any] = {"type": "workitems", "attributes": {"type": new.type, **attributes}}
    if new.assignees:
        row["relationships"] = {"assignee": {"data": _users(new.assignees)}}
    return row


def _attributes(
    *, title: str | None, status: str | None, description: Text | None, custom: Mapping[str, Any]
) -> dict[str, Any]:
    own = {"title": title, "status": status, "description": description}
    given = {name: value for name, value in own.items() if value is not None}
    return {name: encoded(value) for name, value in {**custom, **given}.items()}


def _users(ids: Sequence[str]) -> list[dict[str, str]]:
    return [{"type": "users", "id": one} for one in ids]
