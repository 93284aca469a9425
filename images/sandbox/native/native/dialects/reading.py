"""Reading JSON of a provider, where anything may be missing [pure]."""

import json
from collections.abc import Mapping
from typing import Any


def part(holder: Any, key: str) -> Mapping[str, Any]:
    """An object in an object; empty when it isn't there."""
    found = holder.get(key) if isinstance(holder, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def count(holder: Mapping[str, Any], key: str) -> int:
    """A number of tokens; 0 when it isn't there."""
    found = holder.get(key)
    return found if isinstance(found, int) else 0


def given(arguments: str) -> Any:
    """A call's arguments; the text itself when it is no JSON."""
    try:
        return json.loads(arguments) if arguments.strip() else {}
    except ValueError:
        return arguments
