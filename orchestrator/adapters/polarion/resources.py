"""What Polarion's answers mean, typed [pure]. Parsing is tolerant: nulls and strangers do no harm."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any, Literal, Self

from entrance.errors import Malformed

TextType = Literal["text/plain", "text/html"]
_OWN_FIELDS = frozenset({"id", "type", "title", "status", "description", "created", "updated"})
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
ITEM_SEGMENTS = 2
_UNWRITABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


@dataclass(frozen=True, slots=True)
class Text:
    """A rich text as Polarion keeps it."""

    value: str
    type: TextType = "text/plain"

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True, slots=True)
class WorkItem:
    """A work item. `id` is the full one, `PROJECT/ITEM`.

    `custom` holds every other attribute by its id, priority and severity among them; rich texts
    in it are `Text`, everything else is as JSON gives it.
    """

    id: str
    type: str
    title: str
    status: str
    description: Text
    author: str
    assignees: tuple[str, ...]
    custom: Mapping[str, Any]
    created: datetime
    updated: datetime
    revision: str = ""

    @property
    def project(self) -> str:
        return self.id.partition("/")[0]

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> Self:
        attributes = _attributes(data)
        custom = {k: decoded(v) for k, v in attributes.items() if k not in _OWN_FIELDS}
        return cls(
            id=_id(data),
            type=_text(attributes, "type"),
            title=_text(attributes, "title"),
            status=_text(attributes, "status"),
            description=_rich(attributes.get("description")),
            author=_to_one(data, "author"),
            assignees=_to_many(data, "assignee"),
            custom=MappingProxyType(custom),
            created=_time(attributes.get("created")),
            updated=_time(attributes.get("updated")),
            revision=_text(data, "revision"),
        )


@dataclass(frozen=True, slots=True)
class NewItem:
    """A work item to be made. What is left out gets the type's default."""

    type: str
    title: str
    description: Text | None = None
    status: str | None = None
    assignees: Sequence[str] = ()
    custom: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment; `id` is `PROJECT/ITEM/NUMBER`, `parent` the comment that it answers."""

    id: str
    author: str
    text: Text
    title: str
    created: datetime
    resolved: bool
    parent: str | None

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> Self:
        attributes = _attributes(data)
        return cls(
            id=_id(data),
            author=_to_one(data, "author"),
            text=_rich(attributes.get("text")),
            title=_text(attributes, "title"),
            created=_time(attributes.get("created")),
            resolved=bool(attributes.get("resolved")),
            parent=_to_one(data, "parentComment") or None,
        )


@dataclass(frozen=True, slots=True)
class Link:
    """`source` is linked to `target` in `role`; both are full work item ids."""

    source: str
    role: str
    target: str
    suspect: bool = False

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> Self:
        project, item, role, *rest = [*_id(data).split("/"), "", ""]
        attributes = _attributes(data)
        target = _to_one(data, "workItem") or "/".join(rest).strip("/")
        return cls(
            f"{project}/{item}",
            str(attributes.get("role") or role),
            target,
            bool(attributes.get("suspect")),
        )


@dataclass(frozen=True, slots=True)
class Attachment:
    """An attachment; `id` is `PROJECT/ITEM/N-NAME`, and the name may hold anything."""

    id: str
    file_name: str
    title: str
    size_bytes: int
    author: str
    updated: datetime

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> Self:
        attributes = _attributes(data)
        length = attributes.get("length")
        return cls(
            id=_id(data),
            file_name=_text(attributes, "fileName"),
            title=_text(attributes, "title"),
            size_bytes=length if isinstance(length, int) else 0,
            author=_to_one(data, "author"),
            updated=_time(attributes.get("updated")),
        )


@dataclass(frozen=True, slots=True)
class User:
    """A user. `project_roles` are pairs of project and role."""

    id: str
    name: str
    email: str
    disabled: bool
    project_roles: frozenset[tuple[str, str]]

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> Self:
        attributes = _attributes(data)
        roles = (one.rpartition("/") for one in _to_many(data, "projectRoles"))
        return cls(
            id=_id(data),
            name=_text(attributes, "name"),
            email=_text(attributes, "email"),
            disabled=bool(attributes.get("disabled")),
            project_roles=frozenset((project, role) for project, _, role in roles),
        )


@dataclass(frozen=True, slots=True)
class Project:
    """A project."""

    id: str
    name: str
    prefix: str
    active: bool

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> Self:
        attributes = _attributes(data)
        return cls(
            id=_id(data),
            name=_text(attributes, "name"),
            prefix=_text(attributes, "trackerPrefix"),
            active=bool(attributes.get("active", True)),
        )


def author_in(data: Mapping[str, Any]) -> str:
    """Who is named as the author of whatever it is; empty when nobody is."""
    return _to_one(data, "author")


def decoded(value: Any) -> Any:
    """An attribute's value: a rich text becomes `Text`, all else stays."""
    if isinstance(value, dict) and value.keys() == {"type", "value"}:
        return _rich(value)
    return value


def encoded(value: Any) -> Any:
    """The reverse of `decoded`; times become what Polarion writes, and texts what it takes."""
    if isinstance(value, Text):
        return {"type": value.type, "value": writable(value.value)}
    if isinstance(value, str):
        return writable(value)
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return value


def writable(text: str) -> str:
    """The text without what no XML and no JSON can hold (Polarion refuses the whole of it then).

    Agents and programs write such bytes; a question must not go unread for one of them.
    """
    return _UNWRITABLE.sub("\N{REPLACEMENT CHARACTER}", text)


def split_item(item: str) -> tuple[str, str]:
    """Project and item of a full work item id. Raises: ValueError when it is none."""
    parts = item.split("/")
    if len(parts) != ITEM_SEGMENTS or not all(parts):
        raise ValueError(f"{item!r} is not a work item's full id: write PROJECT/ITEM")
    return parts[0], parts[1]


def _id(data: Mapping[str, Any]) -> str:
    resource_id = data.get("id")
    if not isinstance(resource_id, str) or not resource_id:
        raise Malformed("Polarion sent a resource without an id")
    return resource_id


def _attributes(data: Mapping[str, Any]) -> Mapping[str, Any]:
    attributes = data.get("attributes")
    return attributes if isinstance(attributes, dict) else {}


def _text(of: Mapping[str, Any], name: str) -> str:
    value = of.get(name)
    return value if isinstance(value, str) else ""


def _rich(value: Any) -> Text:
    if isinstance(value, str):
        return Text(value)
    if not isinstance(value, dict):
        return Text("")
    kind: TextType = "text/html" if value.get("type") == "text/html" else "text/plain"
    return Text(_text(value, "value"), kind)


def _time(value: Any) -> datetime:
    try:
        moment = datetime.fromisoformat(value)
    except (TypeError, ValueError):
        return EPOCH
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _identifiers(data: Mapping[str, Any], name: str) -> list[str]:
    relationship = (data.get("relationships") or {}).get(name) or {}
    rows = relationship.get("data")
    rows = rows if isinstance(rows, list) else [rows]
    return [row["id"] for row in rows if isinstance(row, dict) and isinstance(row.get("id"), str)]


def _to_one(data: Mapping[str, Any], name: str) -> str:
    return next(iter(_identifiers(data, name)), "")


def _to_many(data: Mapping[str, Any], name: str) -> tuple[str, ...]:
    return tuple(_identifiers(data, name))
