"""Resources that others name, for `include=author,linkedWorkItems.workItem`."""

import sqlite3
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from polarion_app.embedded.documents import Resource
from polarion_app.embedded.errors import ApiError
from polarion_app.embedded.permissions import Caller
from polarion_app.embedded.records import attachments, comments, items, links, projects, users

MAX_INCLUDED = 500
MAX_STEPS = 4

type Key = tuple[str, str]


def included(
    db: sqlite3.Connection, base: str, primary: Sequence[Resource], include: str, caller: Caller
) -> list[Resource]:
    """What the paths of `include` lead to, each once; what the caller may not read is left out."""
    have = {(one.type, one.id): one for one in primary}
    found: dict[Key, Resource] = {}
    for path in filter(None, include.split(",")):
        current = list(primary)
        for step in path.strip().split(".")[:MAX_STEPS]:
            keys = dict.fromkeys(key for one in current for key in _named(one, step))
            current = []
            for key in keys:
                one = have.get(key) or found.get(key) or _load(db, base, key, caller)
                if one is None:
                    continue
                current.append(one)
                if key not in have:
                    found[key] = one
                if len(found) >= MAX_INCLUDED:
                    return list(found.values())
    return list(found.values())


def first_steps(include: str) -> frozenset[str]:
    """The relationships of the primary resources that `include` needs."""
    return frozenset(path.strip().partition(".")[0] for path in include.split(",") if path)


def _named(resource: Resource, relationship: str) -> Iterable[Key]:
    data: Any = resource.relationships.get(relationship, {}).get("data")
    rows = data if isinstance(data, list) else [data] if data else []
    return [(row["type"], row["id"]) for row in rows]


def _load(db: sqlite3.Connection, base: str, key: Key, caller: Caller) -> Resource | None:
    loader = _LOADERS.get(key[0])
    if loader is None or (key[0] != "users" and not caller.may("GET", key[1].partition("/")[0])):
        return None
    try:
        return loader(db, base, key[1])
    except ApiError:
        return None


def _user(db: sqlite3.Connection, base: str, resource_id: str) -> Resource:
    return users.resource(db, base, users.find(db, resource_id))


def _project(db: sqlite3.Connection, base: str, resource_id: str) -> Resource:
    return projects.resource(base, projects.find(db, resource_id))


def _item(db: sqlite3.Connection, base: str, resource_id: str) -> Resource:
    return items.resource(db, base, _row(db, resource_id)[0])


def _comment(db: sqlite3.Connection, base: str, resource_id: str) -> Resource:
    row, rest = _row(db, resource_id)
    return comments.resource(db, base, row, comments.find(db, row, rest))


def _attachment(db: sqlite3.Connection, base: str, resource_id: str) -> Resource:
    row, rest = _row(db, resource_id)
    return attachments.resource(base, row, attachments.find(db, row, rest))


def _link(db: sqlite3.Connection, base: str, resource_id: str) -> Resource:
    row, rest = _row(db, resource_id)
    role, _, target = rest.partition("/")
    return links.resource(base, row, links.find(db, row, role, target))


def _row(db: sqlite3.Connection, resource_id: str) -> tuple[sqlite3.Row, str]:
    """The work item of an id, and what follows it."""
    project, _, inner = resource_id.partition("/")
    item, _, rest = inner.partition("/")
    return items.find(db, project, item), rest


_LOADERS: dict[str, Callable[[sqlite3.Connection, str, str], Resource]] = {
    "users": _user,
    "projects": _project,
    "workitems": _item,
    "workitem_comments": _comment,
    "workitem_attachments": _attachment,
    "linkedworkitems": _link,
}
