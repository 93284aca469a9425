"""What a schema's `$ref` leads to, inside the same document; others are never fetched [pure]."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote


@dataclass(frozen=True, slots=True)
class Found:
    """What a reference leads to; `key` tells the place from every other."""

    target: Mapping[str, Any]
    key: int


@dataclass
class References:
    """Those of one document."""

    root: Mapping[str, Any]
    _anchors: dict[str, Mapping[str, Any]] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._anchors = dict(_anchors(self.root))

    def found(self, reference: object) -> Found | None:
        """None when it leads nowhere, or out of the document."""
        if not isinstance(reference, str) or not reference.startswith("#"):
            return None
        place = unquote(reference[1:])
        target = self._at(place) if not place or place.startswith("/") else self._anchors.get(place)
        return Found(target, id(target)) if isinstance(target, Mapping) else None

    def _at(self, pointer: str) -> Any:
        """Where a JSON pointer leads (RFC 6901)."""
        value: Any = self.root
        for step in pointer.split("/")[1:]:
            name = step.replace("~1", "/").replace("~0", "~")
            if isinstance(value, Mapping):
                value = value.get(name)
            elif isinstance(value, list) and name.isascii() and name.isdigit():
                value = value[int(name)] if int(name) < len(value) else None
            else:
                return None
        return value


def _anchors(value: Any) -> Iterator[tuple[str, Mapping[str, Any]]]:
    if isinstance(value, Mapping):
        if isinstance(name := value.get("$anchor"), str):
            yield name, value
        for each in value.values():
            yield from _anchors(each)
    elif isinstance(value, list):
        for each in value:
            yield from _anchors(each)
