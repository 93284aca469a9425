"""What the door and its looker say to each other: JSON, each with its length before it [pure].

Bytes that need be no text (names, where links point) go as the characters of the same numbers.
"""

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

import orjson

from entrance.git.checks.facts import (
    Change,
    Commit,
    PackObject,
    Person,
    Pointer,
    Sighting,
    Telling,
)

MOST_BYTES = 512 << 20
_LENGTH = struct.Struct(">I")


class FrameBrokenError(ValueError):
    """The other side said something that can't be read."""


@dataclass(frozen=True, slots=True)
class Job:
    """A push to be read: the first `count` objects of a pack, by its index, and where its refs go.

    `moves`: old, new and name of each ref. `canaries`: name and secret of each honeytoken.
    """

    id: int
    repository: str
    objects: str
    oid_bytes: int
    index: str
    count: int
    moves: tuple[tuple[str, str, str], ...]
    canaries: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    most_bytes: int = 4 << 30
    """All objects together may be so large."""

    @classmethod
    def of(cls, said: Mapping[str, Any]) -> Self:
        pairs = {name: tuple(map(tuple, said[name])) for name in ("moves", "canaries")}
        return cls(**{**said, **pairs})


@dataclass(frozen=True, slots=True)
class Result:
    """What is in it. `trouble`: why not all could be looked at; then nothing else counts.

    `broken`: that may be the mirror's fault.
    """

    id: int
    trouble: str = ""
    broken: bool = False
    canary: str = ""
    """The name of a honeytoken that is in it."""
    kinds: Mapping[str, str] = field(default_factory=dict)
    """Of the objects that refs move to, where they are there."""
    forward: tuple[bool, ...] = ()
    """Of each move: nothing was there, or its old value is behind its new one."""
    commits: tuple[Commit, ...] = ()
    changes: tuple[Change, ...] = ()
    objects: tuple[PackObject, ...] = ()
    stray: frozenset[str] = frozenset()
    links: Mapping[str, bytes] = field(default_factory=dict)
    sightings: tuple[Sighting, ...] = ()
    telling: Mapping[bytes, Telling] = field(default_factory=dict)
    pointers: tuple[Pointer, ...] = ()

    def said(self) -> Mapping[str, Any]:
        """As it goes over the wire."""
        return {
            "id": self.id,
            "trouble": self.trouble,
            "broken": self.broken,
            "canary": self.canary,
            "kinds": self.kinds,
            "forward": self.forward,
            "commits": [_from_commit(one) for one in self.commits],
            "changes": [_from_change(one) for one in self.changes],
            "objects": [(one.oid, one.kind, one.size_bytes) for one in self.objects],
            "stray": tuple(self.stray),
            "links": {oid: data.decode("latin-1") for oid, data in self.links.items()},
            "sightings": [(one.oid, one.what, one.line) for one in self.sightings],
            "telling": [_from_telling(name, one) for name, one in self.telling.items()],
            "pointers": [(one.oid, one.sha256, one.size_bytes) for one in self.pointers],
        }

    @classmethod
    def of(cls, said: Mapping[str, Any]) -> Self:
        """Raises: FrameBrokenError."""
        try:
            return cls(
                id=said["id"],
                trouble=said["trouble"],
                broken=said["broken"],
                canary=said["canary"],
                kinds=said["kinds"],
                forward=tuple(said["forward"]),
                commits=tuple(_commit(*one) for one in said["commits"]),
                changes=tuple(_change(*one) for one in said["changes"]),
                objects=tuple(PackObject(*one) for one in said["objects"]),
                stray=frozenset(said["stray"]),
                links={oid: text.encode("latin-1") for oid, text in said["links"].items()},
                sightings=tuple(Sighting(*one) for one in said["sightings"]),
                telling=dict(_telling(*one) for one in said["telling"]),
                pointers=tuple(Pointer(*one) for one in said["pointers"]),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise FrameBrokenError("the looker's result can't be read") from error


def _from_commit(one: Commit) -> tuple[Any, ...]:
    people = (one.author.name, one.author.mail, one.committer.name, one.committer.mail)
    return (one.oid, one.parents, people, one.message)


def _commit(oid: str, parents: list[str], people: list[str], message: str) -> Commit:
    author, committer = Person(*people[:2]), Person(*people[2:])
    return Commit(oid, tuple(parents), author, committer, message)


def _from_change(one: Change) -> tuple[Any, ...]:
    return (one.commit, one.path.decode("latin-1"), one.old_mode, one.new_mode, one.old, one.new)


def _change(commit: str, path: str, *rest: Any) -> Change:
    return Change(commit, path.encode("latin-1"), *rest)


def _from_telling(name: bytes, one: Telling) -> tuple[Any, ...]:
    return (name.decode("latin-1"), one.whats, one.masked.decode("latin-1"))


def _telling(name: str, whats: list[str], masked: str) -> tuple[bytes, Telling]:
    return name.encode("latin-1"), Telling(tuple(whats), masked.encode("latin-1"))


def pack(said: Job | Mapping[str, Any]) -> bytes:
    """One frame."""
    text = orjson.dumps(said)
    return _LENGTH.pack(len(text)) + text


def length_of(head: bytes) -> int:
    """How long the frame behind these four bytes is. Raises: FrameBrokenError."""
    (length,) = _LENGTH.unpack(head)
    if length > MOST_BYTES:
        raise FrameBrokenError("a frame is too long")
    return int(length)


def unpack(text: bytes) -> dict[str, Any]:
    """A frame without its length. Raises: FrameBrokenError."""
    try:
        said = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise FrameBrokenError("a frame is no JSON") from error
    if not isinstance(said, dict):
        raise FrameBrokenError("a frame is no object")
    return said


class Frames:
    """Fed bytes in any pieces."""

    def __init__(self) -> None:
        self._data = bytearray()

    def feed(self, data: bytes) -> Iterator[dict[str, Any]]:
        """The frames that are whole by now. Raises: FrameBrokenError."""
        self._data += data
        while len(self._data) >= _LENGTH.size:
            end = _LENGTH.size + length_of(bytes(self._data[: _LENGTH.size]))
            if len(self._data) < end:
                return
            text = bytes(self._data[_LENGTH.size : end])
            del self._data[:end]
            yield unpack(text)
