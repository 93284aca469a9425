"""Which line of a YAML file a value stands on."""

from collections.abc import Iterator

import yaml

type Location = tuple[str | int, ...]


class Lines:
    """Looks lines up in a composed YAML document (None: an empty one)."""

    def __init__(self, root: yaml.Node | None) -> None:
        self._root = root

    def of(self, *location: str | int) -> int:
        """The line (from 1) of the deepest part of `location` that exists."""
        node, line = self._root, 1
        for part in location:
            child = _child(node, part)
            if child is None:
                break
            line, node = child
        return line

    def repeated_keys(self) -> Iterator[tuple[Location, str]]:
        """Keys that one mapping has twice: YAML would silently take the last."""
        if self._root is not None:
            yield from _repeated(self._root, ())


def _child(node: yaml.Node | None, part: str | int) -> tuple[int, yaml.Node] | None:
    if isinstance(node, yaml.MappingNode):
        for key, value in reversed(
            node.value
        ):  # of a key that is there twice, the second is the fault
            if key.value == part:
                return key.start_mark.line + 1, value
    elif isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
        child = node.value[part]
        return child.start_mark.line + 1, child
    return None


def _repeated(node: yaml.Node, at: Location) -> Iterator[tuple[Location, str]]:
    if isinstance(node, yaml.MappingNode):
        seen: set[str] = set()
        for key, value in node.value:
            if key.value in seen:
                yield (*at, key.value), "is there twice"
            seen.add(key.value)
            yield from _repeated(value, (*at, key.value))
    elif isinstance(node, yaml.SequenceNode):
        for number, item in enumerate(node.value):
            yield from _repeated(item, (*at, number))
