"""`docs/reference/data-model.md`, from the pages of `polarion_app.config` [pure]."""

from collections.abc import Iterable, Iterator

from orchestrator.cli.reference.markdown import code, page, states, table
from polarion_app.config import DataModel, load
from polarion_app.config.model import Field, WorkItemType

INTRO = """\
What Sandgate adds to Polarion:
work item types with their fields and workflows, link roles, enumerations and roles.
The pages of `polarion_app/config/` are the source; the embedded server serves them."""
LIVES_IN = {"agent_pool": "The Agent Pool project.", "work": "Every project that agents work in."}
DRAWN = 4
"""A workflow of so many statuses is worth a picture."""


def data_model() -> str:
    """The page."""
    model = load()
    return page(
        "Data model",
        INTRO,
        "## Work item types",
        *(part for one in model.types.values() for part in _type(one)),
        "## Fields of every type",
        _fields(model.shared_fields),
        "## Link roles",
        table(
            ("role", "from", "to", "read backwards"),
            (
                (code(one.id), _types(one.sources), _types(one.targets), one.opposite)
                for one in model.link_roles.values()
            ),
        ),
        "## Enumerations",
        table(
            ("enumeration", "values"),
            (
                (code(name), ", ".join(f"{code(one.id)} ({one.name})" for one in options))
                for name, options in model.enumerations.items()
            ),
        ),
        "## Roles",
        *_roles(model),
    )


def _type(one: WorkItemType) -> Iterator[str]:
    yield f"### {one.id}"
    yield f"{one.description}\nLives in: {LIVES_IN[one.projects]}"
    yield _fields(one.fields)
    words = {
        status.id: f"{code(status.id)}{' (initial)' if status.initial else ''}"
        for status in one.statuses
    }
    yield f"Statuses: {', '.join(words.values())}."
    if len(one.statuses) >= DRAWN:
        yield states(_edges(one))
    yield table(
        ("action", "from", "to", "only for the roles"),
        (
            (
                code(a.id),
                _codes(a.sources),
                code(a.target),
                _codes(a.roles) or "everyone who may write",
            )
            for a in one.actions
        ),
    )


def _edges(one: WorkItemType) -> Iterator[tuple[str, str, str]]:
    yield "[*]", one.initial_status, ""
    for action in one.actions:
        for source in action.sources:
            yield source, action.target, action.id


def _fields(fields: Iterable[Field]) -> str:
    rows = [
        (code(one.id), one.enumeration or one.kind, one.description or f"{one.name}.")
        for one in fields
    ]
    return table(("field", "kind", "meaning"), rows)


def _roles(model: DataModel) -> Iterator[str]:
    yield table(
        ("role", "holds in", "may", "sets a status past the workflow"),
        (
            (
                code(one.id),
                "every project" if one.scope == "global" else "its project",
                _codes(sorted(one.verbs)) or "nothing by itself",
                "yes" if one.sets_status else "no",
            )
            for one in model.roles.values()
        ),
    )


def _types(ids: Iterable[str]) -> str:
    return ", ".join("any type" if one == "*" else code(one) for one in ids)


def _codes(ids: Iterable[str]) -> str:
    return ", ".join(code(one) for one in ids)
