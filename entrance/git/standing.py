"""Where the branches of a push are at the host, held against where it wants to move them [pure]."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from entrance.ports import Moved

SHOWN = 12
"""So many digits of an object id are said to people."""


class Place(StrEnum):
    """Where a push's branches are, all of them together."""

    BEFORE = "before"
    """Each where the push expects it."""
    AFTER = "after"
    """Each where the push moves it: it has arrived."""
    ELSEWHERE = "elsewhere"
    """Anything else: another has moved one of them, or only some have arrived."""


@dataclass(frozen=True, slots=True)
class Stand:
    """What the host says. `words`: what is in the way, as a sentence without its end."""

    place: Place
    words: str = ""


def stand_of(
    moved: Sequence[Moved], oids: Mapping[str, str], aliases: Mapping[str, str] | None = None
) -> Stand:
    """Where they are, by what the host lists; a branch that isn't listed isn't there.

    `aliases`: symbolic refs to what they point at. Pushed to, one would move another branch.
    """
    for one in moved:
        if target := (aliases or {}).get(one.ref):
            return Stand(Place.ELSEWHERE, f"{branch(one.ref)} is an alias of {branch(target)} now")
    here = [oids.get(one.ref, "") for one in moved]
    if all(oid == one.new for oid, one in zip(here, moved, strict=True)):
        return Stand(Place.AFTER)
    if all(oid == _present(one.old) for oid, one in zip(here, moved, strict=True)):
        return Stand(Place.BEFORE)
    told = [
        f"{branch(one.ref)} is {_instead(oid, _present(one.old))}"
        for oid, one in zip(here, moved, strict=True)
        if oid != _present(one.old)
    ]
    return Stand(Place.ELSEWHERE, "; ".join(told[:5]))


def branch(ref: str) -> str:
    """A ref as people name it."""
    return ref.removeprefix("refs/heads/")


def _present(oid: str) -> str:
    return oid if oid.strip("0") else ""


def _instead(oid: str, expected: str) -> str:
    if not expected:
        return f"at {oid[:SHOWN]} already"
    return f"{f'at {oid[:SHOWN]}' if oid else 'gone'}, not at {expected[:SHOWN]}"
