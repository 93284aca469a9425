"""JSON:API documents as the REST API writes them [pure]: sparse fields, pages, links."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from yarl import URL

from polarion_app.embedded.errors import bad_request

MAX_RELATIONSHIP_SIZE = 100
MAX_PAGE_NUMBER = 1_000_000

BASIC: Mapping[str, frozenset[str]] = {
    "workitems": frozenset(
        {"id", "type", "title", "status", "priority", "severity", "created", "updated"}
        | {"author", "assignee", "project"}
    ),
    "projects": frozenset({"id", "name", "active", "trackerPrefix"}),
    "users": frozenset({"id", "name", "email", "disabled"}),
}
"""Fields that `@basic` means; types that are not named here give all of theirs."""


@dataclass(frozen=True, slots=True)
class Resource:
    """One resource with everything it has; `shown` makes what a caller asked for."""

    type: str
    id: str
    attributes: Mapping[str, Any] = field(default_factory=dict)
    relationships: Mapping[str, Any] = field(default_factory=dict)
    links: Mapping[str, str] = field(default_factory=dict)
    revision: str | None = None


@dataclass(frozen=True, slots=True)
class Page:
    """One page of a list: `total` counts the whole list."""

    resources: Sequence[Resource]
    total: int
    size: int
    number: int


@dataclass(frozen=True, slots=True)
class SparseFields:
    """What `fields[type]=...` asked for, a type at a time."""

    asked: Mapping[str, frozenset[str]]

    def keep(self, resource_type: str, name: str) -> bool:
        """Whether a field is shown. Nothing asked: nothing but id, type and links."""
        names = self.asked.get(resource_type, frozenset())
        if "@all" in names or name in names:
            return True
        basic = BASIC.get(resource_type)
        return "@basic" in names and (basic is None or name in basic)


def sparse_fields(query: Mapping[str, str]) -> SparseFields:
    """Read every `fields[type]` parameter; types nobody knows do no harm."""
    asked = {
        key.removeprefix("fields[").removesuffix("]"): frozenset(
            part.strip() for part in value.split(",")
        )
        for key, value in query.items()
        if key.startswith("fields[") and key.endswith("]")
    }
    return SparseFields(asked)


def page_wanted(query: Mapping[str, str], default: int, largest: int) -> tuple[int, int]:
    """The page's size and number. A size above the largest is cut to it.

    Raises: ApiError 400 for anything that is no positive number.
    """
    size = _positive(query, "page[size]", default)
    number = _positive(query, "page[number]", 1)
    if number > MAX_PAGE_NUMBER:
        raise bad_request(f"There is no page {number}.", parameter="page[number]")
    return min(size, largest), number


def shown(resource: Resource, fields: SparseFields) -> dict[str, Any]:
    """The resource as JSON, with the fields that were asked for."""
    body: dict[str, Any] = {"type": resource.type, "id": resource.id}
    if resource.revision is not None:
        body["revision"] = resource.revision
    kept = {k: v for k, v in resource.attributes.items() if fields.keep(resource.type, k)}
    related = {k: v for k, v in resource.relationships.items() if fields.keep(resource.type, k)}
    if kept:
        body["attributes"] = kept
    if related:
        body["relationships"] = related
    if resource.links:
        body["links"] = dict(resource.links)
    return body


def single(
    resource: Resource, fields: SparseFields, self_url: URL, included: Sequence[Resource] = ()
) -> dict[str, Any]:
    """A document with one resource."""
    body: dict[str, Any] = {"links": {"self": str(self_url)}, "data": shown(resource, fields)}
    if included:
        body["included"] = [shown(other, fields) for other in included]
    return body


def many(
    page: Page, fields: SparseFields, self_url: URL, included: Sequence[Resource] = ()
) -> dict[str, Any]:
    """A document with one page of a list; `next` and `prev` are absent at its ends."""
    last = max(1, -(-page.total // page.size))
    numbers = {"first": 1, "last": last}
    if page.number > 1:
        numbers["prev"] = min(page.number - 1, last)
    if page.number < last:
        numbers["next"] = page.number + 1
    links = {"self": str(self_url)} | {
        name: str(self_url.update_query({"page[size]": page.size, "page[number]": number}))
        for name, number in numbers.items()
    }
    body: dict[str, Any] = {
        "links": links,
        "data": [shown(resource, fields) for resource in page.resources],
        "meta": {"totalCount": page.total},
    }
    if included:
        body["included"] = [shown(other, fields) for other in included]
    return body


def to_one(resource_type: str, resource_id: str) -> dict[str, Any]:
    """A relationship to one resource."""
    return {"data": {"type": resource_type, "id": resource_id}}


def to_many(identifiers: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """A relationship to many; `meta.totalCount` is there only when the list was cut."""
    body: dict[str, Any] = {"data": list(identifiers[:MAX_RELATIONSHIP_SIZE])}
    if len(identifiers) > MAX_RELATIONSHIP_SIZE:
        body["meta"] = {"totalCount": len(identifiers)}
    return body


def _positive(query: Mapping[str, str], name: str, default: int) -> int:
    text = query.get(name)
    if text is None:
        return default
    if not (text.isascii() and text.isdecimal() and len(text) <= 18 and int(text) > 0):  # noqa: PLR2004 - digits of a 64 bit number
        raise bad_request(f"'{text[:40]}' is not a positive number.", parameter=name)
    return int(text)
