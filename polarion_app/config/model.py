"""What a page of the data model may say, and that the pages agree with each other."""

import re
from collections.abc import Iterable, Mapping
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, StringConstraints, model_validator

Id = Annotated[str, StringConstraints(pattern=r"^[A-Za-z][A-Za-z0-9_-]{0,63}$")]
Verb = Literal["GET", "POST", "PATCH", "DELETE"]
ProjectKind = Literal["agent_pool", "work"]
FieldKind = Literal[
    "string", "text", "text/html", "integer", "float", "boolean", "date", "date-time", "enumeration"
]
ANY_TYPE = "*"


class _Page(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Option(_Page):
    """One value of an enumeration."""

    id: Annotated[str, StringConstraints(min_length=1, max_length=64)]
    name: str
    default: bool = False


class Field(_Page):
    """A custom field. `enumeration` names the options of an enumeration field."""

    id: Id
    name: str
    kind: FieldKind
    description: str = ""
    enumeration: Id | None = None

    @model_validator(mode="after")
    def _options_if_enumerated(self) -> Self:
        if (self.kind == "enumeration") != (self.enumeration is not None):
            raise ValueError(
                f"field {self.id}: 'enumeration' belongs to kind enumeration, and only there"
            )
        return self


class Status(_Page):
    """A status; the `initial` one is what a new item gets. `terminal`: nothing is left to do."""

    id: Id
    name: str
    initial: bool = False
    terminal: bool = False


class Action(_Page):
    """A workflow action: from any of `sources` to `target`.

    `roles`: only these project roles may do it (none named: everyone who may write).
    `required`: fields that must not be empty afterwards; `cleared`: fields that it empties.
    """

    id: Id
    name: str
    sources: tuple[Id, ...]
    target: Id
    roles: tuple[Id, ...] = ()
    required: tuple[str, ...] = ()
    cleared: tuple[str, ...] = ()


class WorkItemType(_Page):
    """A work item type with its own fields, statuses and workflow. `projects`: where it lives."""

    id: Id
    name: str
    description: str
    projects: ProjectKind
    fields: tuple[Field, ...] = ()
    statuses: tuple[Status, ...]
    actions: tuple[Action, ...] = ()

    @property
    def initial_status(self) -> str:
        return next(status.id for status in self.statuses if status.initial)

    def action(self, action_id: str) -> Action | None:
        """The action of that id, or of that number (from 1, in the page's order)."""
        for number, action in enumerate(self.actions, start=1):
            if action_id in (action.id, str(number)):
                return action
        return None

    @model_validator(mode="after")
    def _hangs_together(self) -> Self:
        statuses = _unique((status.id for status in self.statuses), f"{self.id}: status")
        if sum(status.initial for status in self.statuses) != 1:
            raise ValueError(f"{self.id}: exactly one status must be initial")
        _unique((field.id for field in self.fields), f"{self.id}: field")
        _unique((action.id for action in self.actions), f"{self.id}: action")
        for action in self.actions:
            if unknown := {*action.sources, action.target} - statuses:
                raise ValueError(
                    f"{self.id}: action {action.id} names unknown statuses {sorted(unknown)}"
                )
        return self


class LinkRole(_Page):
    """A link role; `sources` and `targets` are the types that it joins, `*` for any."""

    id: Id
    name: str
    opposite: str
    sources: tuple[str, ...]
    targets: tuple[str, ...]


class Role(_Page):
    """What its holders may do: the REST verbs, whether they are people, whether they set a status.

    `sets_status`: may write the status field itself; others move items by workflow actions only.
    """

    id: Id
    name: str
    scope: Literal["global", "project"]
    verbs: frozenset[Verb]
    manages: bool = False
    """May manage users, tokens and projects."""
    sets_status: bool = False


class DataModel(_Page):
    """All pages, checked against each other."""

    types: Mapping[str, WorkItemType]
    shared_fields: tuple[Field, ...]
    link_roles: Mapping[str, LinkRole]
    enumerations: Mapping[str, tuple[Option, ...]]
    roles: Mapping[str, Role]

    def fields_of(self, type_id: str) -> Mapping[str, Field]:
        """Custom fields of a type by id, the shared ones included; of an unknown type: the shared."""
        known = self.types.get(type_id)
        return {
            field.id: field for field in (*self.shared_fields, *(known.fields if known else ()))
        }

    def field_kinds(self, field_id: str) -> frozenset[FieldKind]:
        """Every kind that a field of that id has, over all types."""
        every = (self.shared_fields, *(known.fields for known in self.types.values()))
        return frozenset(field.kind for fields in every for field in fields if field.id == field_id)

    @model_validator(mode="after")
    def _hangs_together(self) -> Self:
        for known in self.types.values():
            for field in known.fields:
                _exists(field.enumeration, self.enumerations, f"{known.id}.{field.id}: enumeration")
            for action in known.actions:
                for role in action.roles:
                    _exists(role, self.roles, f"{known.id}.{action.id}: role")
        for link in self.link_roles.values():
            for type_id in (*link.sources, *link.targets):
                if type_id != ANY_TYPE:
                    _exists(type_id, self.types, f"link role {link.id}: type")
        return self


FIELD_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,99}")
"""What a field's key may look like, known or not: it becomes part of a JSON path."""


def _unique(ids: Iterable[str], what: str) -> set[str]:
    seen: set[str] = set()
    for one in ids:
        if one in seen:
            raise ValueError(f"{what} {one} is there twice")
        seen.add(one)
    return seen


def _exists(one: str | None, known: Mapping[str, object], what: str) -> None:
    if one is not None and one not in known:
        raise ValueError(f"{what} {one} does not exist")
