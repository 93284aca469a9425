"""A call's arguments against the tool's own input schema.

Schemas may come from outside: their patterns run on a linear engine with a size limit, and their
references to other documents are never followed.
"""

from collections.abc import Mapping
from typing import Any

import jsonschema_rs

_PATTERN_BYTES = 1 << 20


def trouble_with(schema: Mapping[str, Any], arguments: Mapping[str, Any]) -> str:
    """What is wrong with the arguments, as a sentence the caller can act on; empty when nothing is."""
    try:
        validator = jsonschema_rs.validator_for(
            dict(schema),
            offline=True,
            pattern_options=jsonschema_rs.RegexOptions(size_limit=_PATTERN_BYTES),
        )
    except ValueError as error:
        return f"the tool's own schema can't be used: {str(error)[:200]}"
    first = next(validator.iter_errors(dict(arguments)), None)
    if first is None:
        return ""
    where = "/".join(str(step) for step in first.instance_path)
    return f"{where or 'arguments'}: {first.message[:300]}"
