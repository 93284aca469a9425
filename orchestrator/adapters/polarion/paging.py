"""Lists, page by page, by the answer's own `links.next`."""

from collections.abc import AsyncIterator, Mapping
from typing import Any

from yarl import URL

from entrance.errors import Malformed
from orchestrator.adapters.polarion.transport import Transport


async def pages(api: Transport, url: URL, what: str) -> AsyncIterator[Mapping[str, Any]]:
    """Every readable resource of a list. Raises: entrance.errors.

    Of `links.next` only the query is used, on the address that was asked: behind a proxy the
    server may name itself otherwise, and the token must not go there.
    """
    seen: set[str] = set()
    while True:
        body = await api.get(url, what)
        if not isinstance(body, dict) or not isinstance(body.get("data"), list):
            raise Malformed(f"{what}: Polarion's answer is no list")
        for row in body["data"]:
            if isinstance(row, dict) and not _unreadable(row):
                yield row
        following = (body.get("links") or {}).get("next")
        if not following:
            return
        query = URL(str(following), encoded=True).raw_query_string
        if query in seen:
            raise Malformed(f"{what}: Polarion's pages go round in a circle")
        seen.add(query)
        url = URL(f"{url.with_query(None)}?{query}", encoded=True)


def data_of(body: Any, what: str) -> Mapping[str, Any]:
    """The resource of a document with one. Raises: Malformed."""
    if isinstance(body, dict) and isinstance(body.get("data"), dict):
        data: Mapping[str, Any] = body["data"]
        return data
    raise Malformed(f"{what}: Polarion's answer holds no resource")


def ids_of(body: Any, what: str) -> list[str]:
    """The ids of what was created. Raises: Malformed."""
    rows = body.get("data") if isinstance(body, dict) else None
    if not isinstance(rows, list) or not all(
        isinstance(row, dict) and row.get("id") for row in rows
    ):
        raise Malformed(f"{what}: Polarion's answer doesn't say what was created")
    return [str(row["id"]) for row in rows]


def _unreadable(row: Mapping[str, Any]) -> bool:
    """A resource that could not be read keeps its place in a list and carries errors."""
    return bool((row.get("meta") or {}).get("errors"))
