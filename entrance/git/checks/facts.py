"""What a push brings, as the rules see it [pure]. Whoever reads the pack fills it in.

Object ids are lower-case hex, 40 or 64 digits. Paths are bytes, as git has them. Modes are git's
(0o100644, 0o100755, 0o120000 a symbolic link, 0o160000 a submodule, 0o040000 an empty folder); 0 where
there is nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from entrance.git.refs import RefUpdate

type ObjectKind = Literal["commit", "tree", "blob", "tag"]

EMPTY_TREES: Mapping[int, str] = {
    40: "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
    64: "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
}
"""The folder with nothing in it, by how many digits its repository's ids have."""


@dataclass(frozen=True, slots=True)
class Person:
    """Who a commit says that it is from."""

    name: str
    mail: str


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit that the host doesn't have yet. `message` with bytes that are no UTF-8 escaped."""

    oid: str
    parents: tuple[str, ...]
    author: Person
    committer: Person
    message: str


@dataclass(frozen=True, slots=True)
class Change:
    """One path that a new commit changes; of a merge, only what differs from all its parents."""

    commit: str
    path: bytes
    old_mode: int
    new_mode: int
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class PackObject:
    """An object of the pack, whole. `size_bytes` is its own, not what it takes in the pack."""

    oid: str
    kind: ObjectKind
    size_bytes: int


@dataclass(frozen=True, slots=True)
class Sighting:
    """Something that a scanner saw in an object. Never the value: `what` names its kind."""

    oid: str
    what: str
    line: int = 0
    """Counted from 1; 0 where it has none."""


@dataclass(frozen=True, slots=True)
class Telling:
    """What a scanner saw in the name of a path or branch, and that name without it."""

    whats: tuple[str, ...]
    masked: bytes


@dataclass(frozen=True, slots=True)
class Pointer:
    """A blob that stands for a file kept by Git LFS: its SHA-256, hex, and its size."""

    oid: str
    sha256: str
    size_bytes: int


@dataclass(frozen=True, slots=True)
class Move:
    """One ref of the push. `kind` is that of the object it moves to, None where there is no such."""

    update: RefUpdate
    kind: ObjectKind | None
    forward: bool
    """It is new, or its old value is an ancestor of its new one."""


@dataclass(frozen=True, slots=True)
class Brought:
    """The whole push."""

    moves: tuple[Move, ...]
    commits: tuple[Commit, ...] = ()
    """Those the host doesn't have, parents before children."""
    changes: tuple[Change, ...] = ()
    objects: tuple[PackObject, ...] = ()
    """Everything in the pack, needed or not."""
    stray: frozenset[str] = frozenset()
    """Objects of the pack that no ref of the push leads to, and that the host doesn't have."""
    pack_bytes: int = 0
    links: Mapping[str, bytes] = field(default_factory=dict)
    """Blobs that a change makes symbolic links: where they point, at most 4096 bytes of it."""
    sightings: tuple[Sighting, ...] = ()
    telling: Mapping[bytes, Telling] = field(default_factory=dict)
    """Paths and branches in whose very names something was seen."""
    pointers: tuple[Pointer, ...] = ()

    def masked(self, name: bytes) -> bytes:
        """A path or branch as it may be told: what was seen in it is cut out."""
        telling = self.telling.get(name)
        return telling.masked if telling else name

    @property
    def onto(self) -> tuple[str, ...]:
        """What the new commits stand on, and the host has: their other parents, and tips that aren't new.

        With it anybody can say from the commits alone which of them the push brought. Sorted.
        """
        tips = {move.update.new for move in self.moves if not move.update.deletes}
        parents = {parent for commit in self.commits for parent in commit.parents}
        return tuple(sorted((tips | parents) - {commit.oid for commit in self.commits}))
