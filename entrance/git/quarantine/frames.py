"""What the door and its looker say to each other: JSON, each with its length before it [pure]."""

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

import orjson

from entrance.git.checks.facts import Commit, PackObject, Person, Pointer, Sighting

MOST_BYTES = 256 << 20
MOST_SIGHTINGS = 1000
"""Of one result; where there are so many, there may be more."""
_LENGTH = struct.Struct(">I")


class FrameBrokenError(ValueError):
    """The other side said something that can't be read."""


@dataclass(frozen=True, slots=True)
class Job:
    """Objects to look through: those of a pack by its index, the first `count` of it, and `oids`.

    `tips`: objects of which only the kind is asked. `canaries`: name and secret of each honeytoken.
    `beside`: objects that something was seen in, each with those of the host to compare it with; then
    nothing else is asked.
    """

    id: int
    repository: str
    objects: str
    oid_bytes: int
    index: str = ""
    count: int = 0
    oids: tuple[str, ...] = ()
    tips: tuple[str, ...] = ()
    beside: tuple[tuple[str, tuple[str, ...]], ...] = ()
    canaries: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    most_bytes: int = 4 << 30
    """All objects together may be so large."""

    @classmethod
    def of(cls, said: Mapping[str, Any]) -> Self:
        canaries = tuple((name, secret) for name, secret in said["canaries"])
        beside = tuple((oid, tuple(older)) for oid, older in said["beside"])
        lists = {"oids": tuple(said["oids"]), "tips": tuple(said["tips"])}
        return cls(**{**said, **lists, "canaries": canaries, "beside": beside})


@dataclass(frozen=True, slots=True)
class Result:
    """What was seen. `trouble`: why not all could be looked at; then nothing else counts."""

    id: int
    trouble: str = ""
    canary: str = ""
    """The name of a honeytoken that is in it."""
    objects: tuple[PackObject, ...] = ()
    kinds: Mapping[str, str] = field(default_factory=dict)
    """Of the tips that are there."""
    commits: tuple[Commit, ...] = ()
    sightings: tuple[Sighting, ...] = ()
    pointers: tuple[Pointer, ...] = ()

    @classmethod
    def of(cls, said: Mapping[str, Any]) -> Self:
        """Raises: FrameBrokenError."""
        try:
            return cls(
                id=said["id"],
                trouble=said["trouble"],
                canary=said["canary"],
                objects=tuple(PackObject(**one) for one in said["objects"]),
                kinds=said["kinds"],
                commits=tuple(_commit(one) for one in said["commits"]),
                sightings=tuple(Sighting(**one) for one in said["sightings"]),
                pointers=tuple(Pointer(**one) for one in said["pointers"]),
            )
        except (KeyError, TypeError) as error:
            raise FrameBrokenError("the looker's result can't be read") from error


def _commit(said: Mapping[str, Any]) -> Commit:
    author, committer = Person(**said["author"]), Person(**said["committer"])
    return Commit(said["oid"], tuple(said["parents"]), author, committer, said["message"])


def pack(said: Job | Result | Mapping[str, Any]) -> bytes:
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
