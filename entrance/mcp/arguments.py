"""A call's arguments against the tool's own input schema.

Schemas may come from outside: their patterns run on a linear engine with a size limit, and their
references to other documents are never followed.
"""

from collections.abc import Mapping
from typing import Any

import jsonschema_rs

_PATTERN_BYTES = 1 << 20


class Shape:
    """What a tool's arguments have to look like: its schema, compiled when it is first needed."""

    def __init__(self, schema: Mapping[str, Any]) -> None:
        self._schema = schema
        self._validator: jsonschema_rs.Validator | None = None

    def trouble_with(self, arguments: Mapping[str, Any]) -> str:
        """What is wrong with them, as a sentence the caller can act on; empty when nothing is."""
        try:
            validator = self._validator or self._compiled()
        except ValueError as error:
            return f"the tool's own schema can't be used: {str(error)[:200]}"
        first = next(validator.iter_errors(dict(arguments)), None)
        return _told(first) if first else ""

    def _compiled(self) -> jsonschema_rs.Validator:
        self._validator = jsonschema_rs.validator_for(
            dict(self._schema),
            offline=True,
            pattern_options=jsonschema_rs.RegexOptions(size_limit=_PATTERN_BYTES),
        )
        return self._validator


def trouble_with(schema: Mapping[str, Any], arguments: Mapping[str, Any]) -> str:
    """The same, for a schema that is needed once."""
    return Shape(schema).trouble_with(arguments)


def _told(first: jsonschema_rs.ValidationError) -> str:
    where = "/".join(str(step) for step in first.instance_path)
    return f"{where or 'arguments'}: {first.message[:300]}"
