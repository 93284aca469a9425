"""Reads what people write in YAML [pure]. What is wrong is said with its item and line."""

import re
from collections.abc import Iterator
from typing import Annotated

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from orchestrator.domain.egress import Unreadable

LONGEST = 64 * 1024
"""Characters of a policy; a longer one isn't read at all."""
_SIZE = re.compile(r"([0-9]{1,15}) ?(B|KiB|MiB|GiB|TiB)?")
_UNITS = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}


EXACTLY = ConfigDict(extra="forbid", strict=True)
"""Of a shape's model: anything else makes a text unreadable."""


def _size(value: object) -> object:
    found = _SIZE.fullmatch(value) if isinstance(value, str) else None
    return int(found[1]) * _UNITS[found[2] or "B"] if found else value


Size = Annotated[int, BeforeValidator(_size), Field(ge=1)]


def read_text[T: BaseModel](shape: type[T], text: str, item: str, kind: str) -> T | Unreadable:
    """The text of `item` as `shape`; `kind` says in a phrase what it ought to be. An empty one is {}."""
    if len(text) > LONGEST:
        return Unreadable(f"{item}: {kind} is longer than {LONGEST} characters")
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
        trouble = next(_ambiguous(root, set()), None) if root else None
        data = yaml.safe_load(text) if trouble is None else None
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        return Unreadable(f"{item}, line {_line_of(error)}: {kind} is no YAML")
    if trouble is not None:
        return Unreadable(f"{item}, line {trouble[0]}: {trouble[1]}")
    try:
        return shape.model_validate({} if data is None else data)
    except ValidationError as error:
        place, why = first_fault(error)
        return Unreadable(f"{item}, line {_line(root, place)}: {why}")


def _ambiguous(node: yaml.Node, seen: set[int]) -> Iterator[tuple[int, str]]:
    """Where the text can be read in two ways, or is more than it looks: keys twice, aliases."""
    if id(node) in seen:
        yield node.start_mark.line + 1, "a policy has no aliases"
        return
    seen.add(id(node))
    if isinstance(node, yaml.SequenceNode):
        for one in node.value:
            yield from _ambiguous(one, seen)
    elif isinstance(node, yaml.MappingNode):
        keys: set[str] = set()
        for key, value in node.value:
            if key.value in keys or key.tag.endswith(":merge"):
                yield key.start_mark.line + 1, f"{key.value!s:.60} is there twice, or merged"
            keys.add(str(key.value))
            yield from _ambiguous(value, seen)


def first_fault(error: ValidationError) -> tuple[tuple[int | str, ...], str]:
    """Where the first thing is that is wrong, and what, without what was given."""
    first = error.errors(include_input=False, include_url=False, include_context=False)[0]
    place = first["loc"]
    said = first["msg"].removeprefix("Value error, ")
    return place, f"{'.'.join(str(part) for part in place) or 'the policy'}: {said}"


def _line(root: yaml.Node | None, place: tuple[int | str, ...]) -> int:
    """In which line of the text a place is, as exactly as the text has it."""
    line, node = 1, root
    for part in place:
        if isinstance(node, yaml.MappingNode):
            found = next((pair for pair in node.value if pair[0].value == part), None)
            if found is None:
                break
            line, node = found[0].start_mark.line + 1, found[1]
        elif isinstance(node, yaml.SequenceNode) and isinstance(part, int):
            node = node.value[part]
            line = node.start_mark.line + 1
        else:
            break
    return line


def _line_of(error: Exception) -> int:
    mark = getattr(error, "problem_mark", None)
    return int(mark.line) + 1 if mark is not None else 1
