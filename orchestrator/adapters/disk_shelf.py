"""What stands beside a task's disk in its folder, and what it takes of the host. Blocking."""

from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from orchestrator.adapters.disk_names import task_named
from orchestrator.disks import KeptDisk

BLOCK_BYTES = 512
IMAGE, HALF_MADE, OVER = "disk.img", "disk.img.part", "over"
"""The disk; one that is being made; since when its task is known to be over."""


def kept_in(root: Path) -> Iterator[KeptDisk]:
    """The disks below `root`. One whose folder's name says no task's id is nobody's to judge."""
    for image in sorted(root.glob(f"*/{IMAGE}")):
        task = task_named(image.parent.name)
        if task is not None:
            with suppress(FileNotFoundError):  # it was removed just now
                yield KeptDisk(task, _taken(image), over_since(image.parent))


def over_since(folder: Path) -> datetime | None:
    """Since when the folder's task is known to be over; None when it isn't."""
    try:
        return datetime.fromisoformat((folder / OVER).read_text())
    except (FileNotFoundError, ValueError):
        return None


def mark(folder: Path, at: datetime | None) -> None:
    """Note since when its task is over, or that it isn't. A folder that is gone stays gone."""
    if at is None:
        (folder / OVER).unlink(missing_ok=True)
        return
    with suppress(FileNotFoundError):
        part = folder / f"{OVER}.part"
        part.write_text(at.isoformat())
        part.replace(folder / OVER)


def empty(folder: Path) -> None:
    """Remove all of it. By name, never a tree: nothing of it can reach through a mount."""
    for name in (IMAGE, HALF_MADE, OVER, f"{OVER}.part"):
        (folder / name).unlink(missing_ok=True)
    for inside in (folder / "mount", folder):
        with suppress(FileNotFoundError):
            inside.rmdir()


def _taken(image: Path) -> int:
    """Bytes of the host's disk; the image is sparse."""
    return image.stat().st_blocks * BLOCK_BYTES
