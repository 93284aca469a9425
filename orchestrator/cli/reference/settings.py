"""`docs/reference/settings.md`, from the models of `orchestrator.settings` [pure]."""

import inspect
from collections.abc import Iterator
from decimal import Decimal
from ipaddress import IPv4Network
from pathlib import Path
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from orchestrator.cli.reference.markdown import code, page, table
from orchestrator.settings import Environment, Provider, Settings

INTRO = """\
The environment is the only source of settings, and `orchestrator/settings.py` its only reader.
No variable holds a secret: those that have to do with one name a file."""
OF_THE_COMMAND = """\
What the [`sandgate` command](cli.md) takes from the environment."""
OF_THE_RUNNER = """\
What the runner (`python -m orchestrator`) takes from the environment.
`sandgate up` works out from the installation what makes it this one (ports, network, key files).
What else you want to set, put into `settings.env` in the installation's folder, one `NAME=value` a
line, and run `sandgate up` again; variables of these names in your own shell are not handed on.
Those who start the runner by other means, such as a unit or a container, set all of them."""
TYPES: dict[Any, str] = {
    str: "text",
    int: "integer",
    float: "number",
    Decimal: "decimal",
    bool: "true or false",
    Path: "path",
    IPv4Network: "subnet",
    dict: "JSON",
    tuple: "JSON",
}
BOUNDS = {"ge": "at least", "gt": "above", "le": "at most", "lt": "below"}
COLUMNS = ("variable", "type", "default", "meaning")


def settings() -> str:
    """The page."""
    return page(
        "Settings",
        INTRO,
        "## The command",
        OF_THE_COMMAND,
        _variables("SANDGATE_", Environment),
        "## The runner",
        OF_THE_RUNNER,
        _variables("SANDGATE_", Settings),
        *_groups(),
        "### One model provider",
        f"{inspect.getdoc(Provider)} The values of `SANDGATE_MODELS__PROVIDERS`.",
        table(
            ("key", *COLUMNS[1:]),
            (_row(code(name), field) for name, field in Provider.model_fields.items()),
        ),
    )


def _groups() -> Iterator[str]:
    for name, field in Settings.model_fields.items():
        group = _group_of(field)
        if group:
            yield f"### `{name}`"
            yield inspect.getdoc(group) or ""
            yield _variables(f"SANDGATE_{name.upper()}__", group)


def _variables(prefix: str, model: type[BaseModel]) -> str:
    return table(
        COLUMNS,
        (
            _row(code(prefix + name.upper()), field)
            for name, field in model.model_fields.items()
            if not _group_of(field)
        ),
    )


def _group_of(field: FieldInfo) -> type[BaseModel] | None:
    kind = field.annotation
    return kind if isinstance(kind, type) and issubclass(kind, BaseModel) else None


def _row(name: str, field: FieldInfo) -> tuple[str, str, str, str]:
    return name, _type_of(field), _default_of(field), field.description or ""


def _type_of(field: FieldInfo) -> str:
    kind: Any = field.annotation
    if get_origin(kind) in {Union, UnionType}:
        kind = next(one for one in get_args(kind) if one is not type(None))
    if get_origin(kind) is Literal:
        return " or ".join(code(word) for word in get_args(kind))
    return ", ".join([TYPES[get_origin(kind) or kind], *_bounds(field)])


def _bounds(field: FieldInfo) -> Iterator[str]:
    for constraint in field.metadata:
        for name, words in BOUNDS.items():
            bound = getattr(constraint, name, None)
            if bound is not None:
                yield f"{words} {bound}"


def _default_of(field: FieldInfo) -> str:
    value = field.get_default(call_default_factory=True)
    if value is PydanticUndefined:
        return "required"
    if value is None or value in ("", {}, ()):
        return "none"
    return code(str(value).lower() if isinstance(value, bool) else value)
