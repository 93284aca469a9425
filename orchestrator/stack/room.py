"""Room on the disks: only for what is really still to be made, and said before the work begins."""

import shutil
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from orchestrator.stack.steps import StepFailed

MB = 1_000_000
WORKING = 300 * MB
"""For databases, logs and records, whatever else is there."""
ENGINE = 500 * MB
"""For the engine's Debian packages, where it must be installed."""


@dataclass(frozen=True, slots=True)
class Room:
    """What making one image takes, in bytes; measured, with a fifth on top."""

    home: int
    """Stays in the installation's cache."""
    engine: int
    """Stays with the engine."""
    passing: int = 0
    """In the installation's cache meanwhile."""
    passing_engine: int = 0
    """With the engine meanwhile: the build's files, before they are a layer."""


HARNESS = Room(home=225 * MB, engine=485 * MB, passing=485 * MB, passing_engine=485 * MB)
NEEDS: Mapping[str, Room] = {
    "base": Room(home=300 * MB, engine=300 * MB, passing=340 * MB),
    "sandbox": Room(home=50 * MB, engine=45 * MB, passing=60 * MB, passing_engine=45 * MB),
    "sandbox-stdio": Room(home=90 * MB, engine=320 * MB, passing=320 * MB, passing_engine=320 * MB),
    "execd": Room(home=0, engine=10 * MB),
}
"""By kind of image; any other holds a harness's program."""


def needed(kinds: Collection[str]) -> tuple[int, int]:
    """The bytes that making images of these kinds takes: in the installation's home, with the engine.

    They are made one after another: what is there only meanwhile counts once.
    """
    rooms = [NEEDS.get(kind, HARNESS) for kind in kinds]
    home = sum(room.home for room in rooms) + max((room.passing for room in rooms), default=0)
    engine = sum(room.engine for room in rooms)
    return home, engine + max((room.passing_engine for room in rooms), default=0)


def require_room(kinds: Collection[str], *, home: Path, engine: Path) -> None:
    """Raises: StepFailed when a disk has too little room to make images of these kinds.

    `engine` is the engine's folder; one that isn't on this machine isn't looked at.
    """
    in_home, in_engine = needed(kinds)
    what = f"to make the images {', '.join(kinds)}"
    if not engine.exists():
        require_free(home, in_home, what)
    elif _disk_of(home) == _disk_of(engine):
        require_free(engine, in_home + in_engine, what)
    else:
        require_free(home, in_home, what)
        require_free(engine, in_engine, what)


def require_free(folder: Path, size: int, what: str) -> None:
    """Raises: StepFailed when the disk of `folder` has less than `size` bytes free for `what`."""
    free = shutil.disk_usage(_there(folder)).free
    if free < size:
        raise StepFailed(
            f"The disk of {folder} has too little room",
            why=f"{free / 1e9:.1f} GB are free, {size / 1e9:.1f} GB are needed {what}",
            what_to_do="Free some space and run the same command again.",
        )


def _disk_of(folder: Path) -> int:
    return _there(folder).stat().st_dev


def _there(folder: Path) -> Path:
    """The folder, or the nearest above it that exists."""
    while not folder.exists():
        folder = folder.parent
    return folder
