"""Addresses in a backend's headers, turned into ones that lead through the door [pure].

What leads elsewhere is left out: nothing could follow it but past the door. Addresses in bodies stay as
they are.
"""

import re
from dataclasses import dataclass

from yarl import URL

_LINK = re.compile(r'<([^<>]*)>((?:\s*;\s*[^\s=;,"]+\s*(?:=\s*(?:"(?:[^"\\]|\\.)*"|[^\s;,"]*))?)*)')
"""One link of a `Link` header: its target, and its parameters (RFC 8288, section 3)."""


@dataclass(frozen=True, slots=True)
class Way:
    """How one request went: by the door's URL of the backend, to the backend's own, asking for `asked`."""

    door: str
    backend: str
    asked: str

    def through_door(self, target: str) -> str | None:
        """The door's address for one that an answer names, which may be relative; None for elsewhere."""
        own = URL(self.backend, encoded=True)
        try:
            named = URL(self.asked, encoded=True).join(URL(target, encoded=True))
            here = (named.scheme, named.host, named.port) == (own.scheme, own.host, own.port)
        except ValueError:
            return None
        base = own.raw_path.rstrip("/")
        if not here or named.raw_user or not named.raw_path.startswith(f"{base}/"):
            return None
        return self.door + named.raw_path_qs[len(base) :]

    def links(self, value: str) -> str | None:
        """A `Link` header with what leads through the door; None when nothing of it does."""
        found = [
            f"<{address}>{parameters}"
            for target, parameters in _LINK.findall(value)
            if (address := self.through_door(target)) is not None
        ]
        return ", ".join(found) or None
