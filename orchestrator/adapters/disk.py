"""One capped disk a task: an ext4 image, mounted, that holds its /workspace and its $HOME.

The agent can fill it and nothing else. `<root>/<slug>/disk.img` is the disk, `<root>/<slug>/mount`
its mount point: root's own and 0700, and used only while the image is truly mounted on it, so that
a path without its disk never becomes the host's own.
"""

import asyncio
import errno
import os
import shutil
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from entrance.errors import Conflict, NotFound, Unavailable
from entrance.session import TaskId
from orchestrator.adapters import disk_shelf
from orchestrator.adapters.disk_names import slug
from orchestrator.disks import KeptDisk
from orchestrator.ports import Mounts

COMMAND_TIMEOUT_S = 60.0
HEADROOM_BYTES = 256 << 20
"""What the host's disk must have free before a new task's disk is made."""
FSCK_WORST = 1
"""e2fsck's exit code for "errors were there and are corrected"; above it the disk is broken."""
BUSY_S = 5.0
"""How long the engine may take to let go of a mount after a container's end."""
POLL_S = 0.05
SANDBOX_USER = 10001
NOT_ALLOWED = " (where nobody may mount, SANDBOXES__DISK=watched is the weaker way)"


@dataclass(frozen=True, slots=True)
class Usage:
    """How full a task's disk is."""

    size_bytes: int
    free_bytes: int


class TaskDisks:
    """Makes, mounts, unmounts and removes the disks of tasks. Needs root."""

    def __init__(
        self,
        root: Path,
        *,
        size_bytes: int,
        owner: int = SANDBOX_USER,
        headroom_bytes: int = HEADROOM_BYTES,
    ) -> None:
        self._root = root.resolve()
        self._size_bytes = size_bytes
        self._owner = owner
        self._headroom_bytes = headroom_bytes
        self._locks: dict[str, threading.Lock] = {}

    async def ensure(self, task: TaskId) -> Mounts:
        """Make the task's disk if need be, mount it, and return its folders. Idempotent.

        A disk that a crash left half made is made anew; one that is there is checked (fsck).
        Raises: Unavailable (host's disk full, not root, image broken), Conflict (something else
        is mounted there).
        """
        return await self._alone(task, self._ensure)

    async def release(self, task: TaskId) -> None:
        """Unmount the task's disk; the image stays. Idempotent. Raises: Unavailable (in use)."""
        await self._alone(task, lambda folder: _unmount(folder / "mount"))

    async def purge(self, task: TaskId) -> None:
        """Remove the task's disk with all that is on it. Idempotent.

        Raises: Conflict when it is mounted: somebody uses it.
        """
        await self._alone(task, _purge)

    async def kept(self) -> Sequence[KeptDisk]:
        """Every task's disk."""
        return await asyncio.to_thread(lambda: list(disk_shelf.kept_in(self._root)))

    async def mark(self, task: TaskId, over_since: datetime | None) -> None:
        """Note since when the task is over; None: it isn't. Raises: Unavailable."""
        await self._alone(task, lambda folder: disk_shelf.mark(folder, over_since))

    async def check(self) -> str:
        """What the disks take, for a person. Raises: Unavailable when there is no room for another."""
        kept = await self.kept()
        free = (await asyncio.to_thread(shutil.disk_usage, self._root)).free
        taken, most = sum(disk.used_bytes for disk in kept), len(kept) * self._size_bytes
        says = f"{len(kept)} take {_gib(taken)} of at most {_gib(most)}; {_gib(free)} are free"
        if free < self._headroom_bytes:
            raise Unavailable(f"no room for another one: {says} (`sandgate task purge`)")
        return says

    async def usage(self, task: TaskId) -> Usage:
        """How full the task's disk is. Raises: NotFound unless it is mounted."""
        return await self._alone(task, _usage)

    async def _alone[T](self, task: TaskId, work: Callable[[Path], T]) -> T:
        """Do `work` on the task's folder, in a thread, one at a time for each task."""
        name = slug(task)
        lock = self._locks.setdefault(name, threading.Lock())

        def locked() -> T:
            # A lock of threads: a cancelled caller goes away, its thread finishes its work.
            with lock:
                return work(self._root / name)

        try:
            return await asyncio.to_thread(locked)
        except PermissionError as error:
            raise Unavailable(f"the disk of task {task} needs root: {error}") from error
        except OSError as error:
            raise Unavailable(_sentence(error, self._root)) from error

    def _ensure(self, folder: Path) -> Mounts:
        image, mount = folder / disk_shelf.IMAGE, folder / "mount"
        if not image.exists():
            self._make(folder, image)
        if not os.path.ismount(mount):
            _mount(image, mount)
        require_image_mounted(image, mount)
        with suppress(OSError):
            (mount / "lost+found").rmdir()
        mounts = Mounts(workspace=mount / "workspace", home=mount / "home")
        for inside in (mounts.workspace, mounts.home):
            if not inside.is_dir():
                inside.mkdir(mode=0o755)
                os.chown(inside, self._owner, self._owner)
        return mounts

    def _make(self, folder: Path, image: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        free = shutil.disk_usage(folder).free
        if free < self._headroom_bytes:
            raise Unavailable(
                f"the host's disk at {self._root} has {free >> 20} MiB free, a new task needs"
                f" {self._headroom_bytes >> 20} MiB: free some space"
            )
        # Under another name until it is whole: a crash leaves nothing that looks like a disk.
        half_made = folder / disk_shelf.HALF_MADE
        half_made.unlink(missing_ok=True)
        with half_made.open("xb") as file:
            file.truncate(self._size_bytes)
        half_made.chmod(0o600)
        _run(
            # No journal: nothing to replay, and its room goes to the agent. Blocks stay sparse.
            *("mkfs.ext4", "-q", "-m0", "-O", "^has_journal"),
            *("-E", "lazy_itable_init=1,nodiscard", str(half_made)),
        )
        half_made.rename(image)


def release_all(root: Path, spare: frozenset[TaskId] = frozenset()) -> list[str]:
    """Unmount every task's disk under `root`, but for those of `spare`; return the folders' names.

    Raises: Unavailable.
    """
    released, stay = [], {slug(task) for task in spare}
    for mount in sorted(root.resolve().glob("*/mount")):
        if os.path.ismount(mount) and mount.parent.name not in stay:
            _unmount(mount)
            released.append(mount.parent.name)
    return released


def require_image_mounted(image: Path, mount: Path) -> None:
    """Raises: Conflict unless it is `image` that is mounted on `mount`, and nothing else."""
    device = mount.stat().st_dev
    backing = Path(f"/sys/dev/block/{os.major(device)}:{os.minor(device)}/loop/backing_file")
    try:
        source = backing.read_text().strip()
    except OSError:
        source = "no image"
    if source != str(image):
        raise Conflict(f"on {mount} belongs {image}, but {source} is there: unmount it")


def _mount(image: Path, mount: Path) -> None:
    _require_let_go(image)
    # After a crash of the host the file system is unclean, and has no journal.
    _run("e2fsck", "-p", str(image), worst=FSCK_WORST)
    mount.mkdir(mode=0o700, exist_ok=True)
    mount.chmod(0o700)
    code, said = _call("mount", "-o", "loop,nosuid,nodev", str(image), str(mount))
    if code:
        raise Unavailable(f"mount failed for {mount}: {said or f'exit code {code}'}{NOT_ALLOWED}")


def _require_let_go(image: Path) -> None:
    """Raises: Unavailable when the kernel still has the image open as a disk after a while.

    A program with a mount namespace of its own, made while the disk was mounted, keeps it mounted
    there; checked or mounted a second time, it would be torn to pieces.
    """
    deadline = time.monotonic() + BUSY_S
    while any(_backing(device) == str(image) for device in Path("/sys/block").glob("loop*")):
        if time.monotonic() > deadline:
            raise Unavailable(
                f"{image} is still mounted, in another mount namespace of this host: end what"
                f" keeps it (`grep -l {image.parent.name} /proc/*/mountinfo`)"
            )
        time.sleep(POLL_S)


def _backing(device: Path) -> str:
    try:
        return (device / "loop" / "backing_file").read_text().strip()
    except OSError:  # it has none
        return ""


def _unmount(mount: Path) -> None:
    """Raises: Unavailable when something still uses it after a while."""
    deadline = time.monotonic() + BUSY_S
    while os.path.ismount(mount):
        code, said = _call("umount", str(mount))
        if code and os.path.ismount(mount):
            if "busy" not in said:
                raise Unavailable(f"{mount} can't be unmounted: {said}")
            if time.monotonic() > deadline:
                raise Unavailable(f"{mount} is still in use: does its sandbox live?")
            time.sleep(POLL_S)


def _purge(folder: Path) -> None:
    if os.path.ismount(folder / "mount"):
        raise Conflict(f"the disk {folder.name} is mounted: does its sandbox live?")
    disk_shelf.empty(folder)


def _usage(folder: Path) -> Usage:
    mount = folder / "mount"
    if not os.path.ismount(mount):
        raise NotFound(f"the disk {folder.name} is not mounted")
    found = os.statvfs(mount)
    return Usage(found.f_blocks * found.f_frsize, found.f_bavail * found.f_frsize)


def _run(*command: str, worst: int = 0) -> None:
    code, said = _call(*command)
    if not 0 <= code <= worst:
        raise Unavailable(f"{command[0]} failed for {command[-1]}: {said or f'exit code {code}'}")


def _call(*command: str) -> tuple[int, str]:
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            check=False,
            timeout=COMMAND_TIMEOUT_S,
        )
    except FileNotFoundError as error:
        raise Unavailable(f"{command[0]} is missing: install e2fsprogs and mount") from error
    except subprocess.TimeoutExpired as error:
        raise Unavailable(f"{command[0]} took longer than {COMMAND_TIMEOUT_S:.0f} s") from error
    return done.returncode, done.stdout.strip()


def _sentence(error: OSError, root: Path) -> str:
    if error.errno == errno.ENOSPC:
        return f"the host's disk at {root} is full: free some space"
    return f"the disks at {root} can't be used: {error}"


def _gib(size_bytes: int) -> str:
    return f"{size_bytes / (1 << 30):.1f} GiB"
