"""One repository's mirror: what the host has, as of its last fetch.

It is as fresh as the digest that lies in it: what was asked of the host before a push says whether that
is fresh enough.
"""

import asyncio
import math
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from entrance.git.listing import Listing
from entrance.git.quarantine.git_child import Place
from entrance.git.receive_pack import Hash

DIGEST, LISTED = "sandgate-digest", "sandgate-listed"
MOST_BEHIND = 100
"""So many branches and tags a mirror may lack without being of no use."""


@dataclass(frozen=True, slots=True)
class Origin:
    """What a mirror is of. `secret`: the headers that open it."""

    url: str
    hash_name: Hash
    secret: Mapping[str, str] = field(default_factory=dict, repr=False)


@dataclass(slots=True)
class Mirror:
    """One repository's mirror. `lock` is held by whoever changes it."""

    folder: Path
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    whole_at: float = -math.inf
    """When it was last found to be whole, by the machine's clock."""

    @property
    def place(self) -> Place:
        return Place(self.folder)

    @property
    def digest(self) -> str:
        """Of the branches and tags that it has; empty when that is not known."""
        try:
            return (self.folder / DIGEST).read_text("ascii")
        except (OSError, ValueError):
            return ""

    def lacks(self, listing: Listing) -> frozenset[str] | None:
        """Where the branches and tags are that only the host has; None when it isn't just a few more.

        Then what is new to the mirror is what is new to the host, and perhaps more; never less.
        """
        try:
            listed = frozenset((self.folder / LISTED).read_bytes().splitlines())
        except OSError:
            return None
        more = listing.lines - listed
        if not self.digest or len(more) > MOST_BEHIND or not listed <= listing.lines:
            return None
        return frozenset(line.partition(b" ")[0].decode("ascii", "replace") for line in more)

    def packs(self) -> int:
        """How many packs it is in. Blocking."""
        return sum(1 for _ in (self.folder / "objects" / "pack").glob("*.pack"))

    def take_pack(self, index: Path) -> None:
        """Move a pack in here, whose objects build on what is here. Blocking. Raises: OSError."""
        packs = self.folder / "objects" / "pack"
        for suffix in (".pack", ".rev", ".idx"):  # it counts once its index is there
            with suppress(FileNotFoundError):
                index.with_suffix(suffix).rename(packs / index.with_suffix(suffix).name)
