"""Credentials that are nobody's: what a sandbox sends is looked through for its own [pure].

Their values are letters and digits, told to us in parts that are enough to know them by; they are
found as they are, in hex, in base64 wherever they stand in what was packed, and escaped for a URL.
What is compressed or encrypted is not looked into.
"""

import base64
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar
from urllib.parse import unquote_to_bytes

from ahocorasick_rs import BytesAhoCorasick, Implementation

SHORTEST = 8
"""A shorter part stands in ordinary words."""
_BLANKS = b" \t\r\n\v\f\\"
_BEGUN = re.compile(rb"%[0-9A-Fa-f]?\Z")
_PART = re.compile(rf"[A-Za-z0-9]{{{SHORTEST},}}", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Canary:
    """One of them. Raises: ValueError when a part means nothing."""

    __pydantic_config__: ClassVar[dict[str, str | bool]] = {"extra": "forbid", "strict": True}

    name: str
    parts: tuple[str, ...]

    def __post_init__(self) -> None:
        if not all(_PART.fullmatch(part) for part in self.parts):
            raise ValueError(f"the parts of {self.name} are letters and digits, {SHORTEST} or more")


class Traps:
    """The canaries of one sandbox, ready to be looked for."""

    def __init__(self, canaries: Iterable[Canary]) -> None:
        forms = {
            form: canary.name
            for canary in canaries
            for part in canary.parts
            for form in _forms(part.encode())
        }
        self._names = list(forms.values())
        self._search = BytesAhoCorasick(list(forms), implementation=Implementation.DFA)
        self._overlap = max(map(len, forms), default=2) - 1

    def within(self, data: bytes) -> str:
        """The name of the first canary in `data`; empty when there is none."""
        return Stream(self).feed(data + b" ")

    def first_in(self, text: bytes) -> str:
        """The same, of what is unfolded already."""
        hits = self._search.find_matches_as_indexes(text)
        return self._names[hits[0][0]] if hits else ""

    @property
    def overlap(self) -> int:
        """So much of what went before may be the beginning of a form."""
        return self._overlap


class Stream:
    """Bytes that come in pieces."""

    def __init__(self, traps: Traps) -> None:
        self._traps = traps
        self._begun = b""
        self._before = b""

    def feed(self, data: bytes) -> str:
        """The name of the first canary that ends in this piece; empty when none does."""
        data = self._begun + data
        begun = _BEGUN.search(data, max(0, len(data) - 2))
        self._begun = data[begun.start() :] if begun else b""
        data = data[: begun.start()] if begun else data
        plain = (unquote_to_bytes(data) if b"%" in data else data).translate(None, _BLANKS)
        text = self._before + plain
        found = self._traps.first_in(text)
        self._before = b"" if found else text[-self._traps.overlap :]
        return found


@lru_cache(maxsize=256)
def traps_of(canaries: tuple[Canary, ...]) -> Traps:
    """Made once for each set of canaries."""
    return Traps(canaries)


def _forms(part: bytes) -> Iterator[bytes]:
    yield part
    yield part.hex().encode()
    yield part.hex().upper().encode()
    for before in range(3):
        first, last = -(-before * 8 // 6), (before + len(part)) * 8 // 6
        yield base64.b64encode(bytes(before) + part)[first:last]
