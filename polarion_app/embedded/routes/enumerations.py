"""Options of enumeration fields: as a list per field, and as enumerations."""

from collections.abc import Iterable, Mapping
from http import HTTPStatus
from typing import Any

from aiohttp import web

from polarion_app.config.model import DataModel, WorkItemType
from polarion_app.embedded.errors import ApiError
from polarion_app.embedded.records import links
from polarion_app.embedded.routes.call import PREFIX, Call, Route, answer
from polarion_app.embedded.routes.workitems import ITEM, ITEMS

ANY = "~"
_OWN_NAMES = {"type": "workitem-type", "linkRole": "workitem-link-role"}

type Options = list[dict[str, Any]]


async def available_options(call: Call) -> web.StreamResponse:
    """A list of options; `type=~` (or none) means every type."""
    kind = await call.read(lambda db: call.project(db, "GET")["kind"])
    return _listed(call, kind, call.param("type") or ANY)


async def available_options_of_item(call: Call) -> web.StreamResponse:
    row = await call.read(lambda db: call.item(db, "GET"))
    kind = await call.read(lambda db: call.project(db, "GET")["kind"])
    return _listed(call, kind, row["type"])


async def enumeration(call: Call) -> web.StreamResponse:
    """An object with all options; context and type may be `~`."""
    kind = await call.read(lambda db: call.project(db, "GET")["kind"])
    name, context, type_id = call.path("n"), call.path("x"), call.path("t")
    options = options_of(call.api.model, kind, name, type_id)
    if options is None:
        raise ApiError(HTTPStatus.NOT_FOUND, f"Enumeration '{name}' was not found.")
    attributes = {"enumName": name, "options": options}
    data = {
        "type": "enumerations",
        "id": f"{call.path('p')}/{context}/{name}/{type_id}",
        "attributes": attributes,
    }
    return answer({"links": {"self": str(call.request.url)}, "data": data})


def options_of(model: DataModel, kind: str, name: str, type_id: str) -> Options | None:
    """The options of an enumeration in a project of that kind; None when there is none of the name."""
    types = [
        known
        for known in model.types.values()
        if known.projects == kind and type_id in (ANY, "", known.id)
    ]
    if name == "workitem-type":
        known = [one for one in model.types.values() if one.projects == kind]
        return [_option(one.id, one.name, default=place == 0) for place, one in enumerate(known)]
    if name == "status":
        return _statuses(types)
    if name == "workitem-link-role":
        return links.options(model)
    found = model.enumerations.get(name) or _custom(model, types, name)
    return None if found is None else [_option(o.id, o.name, default=o.default) for o in found]


def _custom(model: DataModel, types: Iterable[WorkItemType], field_id: str) -> Any:
    for known in types:
        field = model.fields_of(known.id).get(field_id)
        if field is not None and field.enumeration is not None:
            return model.enumerations[field.enumeration]
    return None


def _statuses(types: Iterable[WorkItemType]) -> Options:
    found: Mapping[str, dict[str, Any]] = {
        status.id: _option(status.id, status.name, default=status.initial)
        for known in types
        for status in known.statuses
    }
    return list(found.values())


def _option(option_id: str, name: str, *, default: bool) -> dict[str, Any]:
    return {"id": option_id, "name": name, "default": default, "hidden": False}


def _listed(call: Call, kind: str, type_id: str) -> web.Response:
    name = _OWN_NAMES.get(call.path("f"), call.path("f"))
    options = options_of(call.api.model, kind, name, type_id)
    if options is None:
        raise ApiError(
            HTTPStatus.NOT_FOUND, f"Field '{call.path('f')}' is not an Enumeration field."
        )
    body = {
        "links": {"self": str(call.request.url)},
        "data": options,
        "meta": {"totalCount": len(options)},
    }
    return answer(body)


ROUTES: tuple[Route, ...] = (
    ("GET", f"{ITEMS}/fields/{{f}}/actions/getAvailableOptions", available_options),
    ("GET", f"{ITEM}/fields/{{f}}/actions/getAvailableOptions", available_options_of_item),
    ("GET", f"{PREFIX}/projects/{{p}}/enumerations/{{x}}/{{n}}/{{t}}", enumeration),
)
