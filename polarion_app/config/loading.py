"""Reads the pages of the data model from this folder, or from another one of the same shape."""

from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

import yaml
from pydantic import ValidationError

from polarion_app.config.model import DataModel


def load(folder: Traversable | None = None) -> DataModel:
    """Read and check the whole model.

    Raises: ValueError naming what is wrong; OSError when a page can't be read.
    """
    folder = folder or files("polarion_app.config")
    types = [_read(page) for page in sorted(folder.joinpath("types").iterdir(), key=_name)]
    try:
        return DataModel.model_validate(
            {
                "types": _by_id(types),
                "shared_fields": _read(folder.joinpath("shared_fields.yaml")),
                "link_roles": _by_id(_read(folder.joinpath("link_roles.yaml"))),
                "enumerations": _read(folder.joinpath("enumerations.yaml")),
                "roles": _by_id(_read(folder.joinpath("roles.yaml"))),
            }
        )
    except ValidationError as error:
        raise ValueError(f"the data model in {folder} is not sound: {error}") from error


def _read(page: Traversable) -> Any:
    try:
        return yaml.safe_load(page.read_text(encoding="utf-8"))
    except yaml.YAMLError as error:
        raise ValueError(f"{page} is not readable YAML: {error}") from error


def _by_id(rows: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    by_id = {row["id"]: row for row in rows}
    if len(by_id) != len(rows):
        raise ValueError(f"an id is there twice among {[row['id'] for row in rows]}")
    return by_id


def _name(page: Traversable) -> str:
    return page.name
