"""Captured names: `{{name}}` in a text stands for what was captured; `\\{{name}}` for itself."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

_NAME = re.compile(r"(\\?)\{\{([A-Za-z_]\w*)\}\}")


def fill(text: str, values: Mapping[str, str], quote: Callable[[str], str] = str) -> str:
    """Put the values in. `quote` makes a value fit for where it goes (a regular expression, say).

    Raises:
        KeyError: a name has no value.
    """

    def put(match: re.Match[str]) -> str:
        return match[0][1:] if match[1] else quote(values[match[2]])

    return _NAME.sub(put, text)


def fill_all(value: Any, values: Mapping[str, str]) -> Any:
    """`fill` in every text of a JSON value; keys of objects stay."""
    match value:
        case str():
            return fill(value, values)
        case dict():
            return {key: fill_all(item, values) for key, item in value.items()}
        case list() | tuple():
            return [fill_all(item, values) for item in value]
        case _:
            return value


def used(value: Any) -> Iterator[str]:
    """Every name that a JSON value uses."""
    match value:
        case str():
            yield from (match[2] for match in _NAME.finditer(value) if not match[1])
        case dict():
            for item in value.values():
                yield from used(item)
        case list() | tuple():
            for item in value:
                yield from used(item)
        case _:
            return


def take(pattern: str, text: str) -> str | None:
    """The first group of the first match (the whole match if there is no group), or None."""
    found = re.search(pattern, text, re.MULTILINE)
    if found is None:
        return None
    return (found[1] or "") if found.re.groups else found[0]
