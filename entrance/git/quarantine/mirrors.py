"""A bare mirror of each repository that is pushed to: what the host has, so that what is new can be told.

A mirror holds branches and tags, is never served to a sandbox (whoever knows an object's id could ask for
what the host has long removed), and never gets what is in quarantine. What is damaged is thrown away and
made anew.
"""

import asyncio
import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from time import monotonic

import structlog

from entrance.errors import Unavailable
from entrance.git.listing import Listing, digest_of
from entrance.git.quarantine.git_child import Bounds, GitFailed, Place, environment, git
from entrance.git.quarantine.mirror import DIGEST, LISTED, Mirror, Origin
from entrance.git.quarantine.room import check_room
from entrance.git.receive_pack import Hash
from entrance.ports import Moved

log = structlog.get_logger()

WHOLE_S = 60.0
"""For so long a mirror that was found to be whole counts as that."""
_FETCH = Bounds(seconds=900.0, stdout_bytes=1 << 20)
_LOOK = Bounds(seconds=300.0, stdout_bytes=256 << 20)
_REFSPECS = ("+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*")
MOST_PACKS = 40
MOST_BYTES = 32 << 30
UNUSED_S = 30 * 24 * 3600.0
"""A mirror that nobody has pushed through for so long is removed, at a start or when one is made."""
_FORM = "--format=%(objectname) %(refname)"
_GONE = ".gone-"
_SPARING: Mapping[str, str] = {
    "gc.auto": "2000",
    "gc.autoPackLimit": str(MOST_PACKS - 1),
    "pack.threads": "1",
    "pack.windowMemory": "64m",
}


class Mirrors:
    """The mirrors below `folder`."""

    def __init__(
        self,
        folder: Path,
        needed: Callable[[], Collection[Path]] = tuple,
        most_bytes: int = MOST_BYTES,
    ) -> None:
        """`needed` tells, blocking, the mirrors that are of use to somebody else, however old.

        `most_bytes`: what a host may send at once; it could go on for ever.
        """
        self._folder = folder
        self._needed = needed
        self._known: dict[str, Mirror] = {}
        self._fetch_bounds = replace(_FETCH, file_bytes=most_bytes)

    def of(self, url: str, hash_name: Hash) -> Mirror:
        """A repository's mirror, whether it is there yet or not."""
        name = f"{hashlib.sha256(url.encode()).hexdigest()[:32]}-{hash_name}"
        return self._known.setdefault(name, Mirror(self._folder / name))

    async def fresh(self, origin: Origin, listing: Listing | None) -> Mirror:
        """The mirror, no older than `listing`; None: than this call. Raises: Unavailable."""
        mirror = self.of(origin.url, origin.hash_name)
        if listing is not None and mirror.digest == listing.digest:
            with suppress(OSError):
                os.utime(mirror.folder / DIGEST)  # it is of use
            return mirror
        async with mirror.lock:
            if listing is None or mirror.digest != listing.digest:
                await self._refresh(mirror, origin)
        return mirror

    async def mended(self, origin: Origin) -> bool:
        """Whether the mirror was damaged, and is new now; looked at once a while. Raises: Unavailable."""
        mirror = self.of(origin.url, origin.hash_name)
        async with mirror.lock:
            now = monotonic()
            if now - mirror.whole_at < WHOLE_S:
                return False  # whoever pushes half of what is needed can't keep the disk busy by it
            if await _is_whole(mirror):
                mirror.whole_at = now
                return False
            await self._throw_away(mirror)
            await self._refresh(mirror, origin)
        return True

    def knows(self, url: str) -> bool:
        """Whether there is a mirror of it, or one is being made."""
        return any(one.digest or one.lock.locked() for one in self._both(url))

    def _both(self, url: str) -> tuple[Mirror, Mirror]:
        return self.of(url, "sha1"), self.of(url, "sha256")

    async def move(self, mirror: Mirror, moved: Sequence[Moved]) -> None:
        """Move refs as the host has, where their objects are there; then pack anew what is many packs.

        Its digest is made of what is there afterwards: if the host has done something else, it is not
        the host's, and the next push fetches.
        """
        told = "".join(f"update {one.ref} {one.new}\n" for one in moved).encode()
        async with mirror.lock:
            if not mirror.digest:
                return
            try:
                (mirror.folder / DIGEST).unlink(missing_ok=True)
                await git(["update-ref", "--stdin"], environment(mirror.place), given=told)
                await self._digest(mirror)
                await self._pack_anew(mirror)
            except (GitFailed, OSError) as error:
                log.warning("mirror_not_moved", mirror=mirror.folder.name, error=str(error))

    def sweep(self) -> None:
        """Remove what a crash left half made or half removed, and what nobody has used for long.

        Blocking; before anything else. Raises: OSError.
        """
        self._folder.mkdir(parents=True, exist_ok=True)
        for gone in self._folder.glob(f"{_GONE}*"):
            shutil.rmtree(gone, ignore_errors=True)
        self._remove_unused()

    def _remove_unused(self) -> None:
        """Blocking. Raises: OSError."""
        os.utime(self._folder)
        oldest = self._folder.stat().st_mtime - UNUSED_S
        needed = self._needed()
        for folder in self._folder.glob("[0-9a-f]*"):
            digest, known = folder / DIGEST, self._known.get(folder.name)
            used = digest if digest.exists() else folder  # its first fetch may never have ended
            changing = known is not None and known.lock.locked()
            if used.stat().st_mtime < oldest and not changing and folder not in needed:
                shutil.rmtree(folder, ignore_errors=True)

    async def _refresh(self, mirror: Mirror, origin: Origin) -> None:
        try:
            try:
                await self._fetch(mirror, origin)
            except GitFailed as failed:
                if await _is_whole(mirror):
                    raise
                log.warning("mirror_damaged", mirror=mirror.folder.name, error=str(failed))
                await self._throw_away(mirror)
                await self._fetch(mirror, origin)
        except GitFailed as failed:
            raise Unavailable(f"the repository can't be mirrored: {failed}") from failed
        except OSError as error:
            raise Unavailable(f"the mirror can't be written: {error.strerror}") from error

    async def _fetch(self, mirror: Mirror, origin: Origin) -> None:
        await asyncio.to_thread(check_room, self._folder)
        await self._made(mirror, origin.hash_name)
        (mirror.folder / DIGEST).unlink(missing_ok=True)
        env = environment(mirror.place, origin.secret)
        quiet = ("--quiet", "--prune", "--no-tags", "--no-write-fetch-head", "--refmap=")
        await git(["fetch", *quiet, "--", origin.url, *_REFSPECS], env, bounds=self._fetch_bounds)
        await self._digest(mirror)
        await self._pack_anew(mirror)

    async def _digest(self, mirror: Mirror) -> None:
        told = ["for-each-ref", _FORM, "refs/heads", "refs/tags"]
        listed = await git(told, environment(mirror.place), bounds=_LOOK)
        await asyncio.to_thread(_write, mirror.folder / LISTED, listed)
        await asyncio.to_thread(_write, mirror.folder / DIGEST, digest_of(listed).encode())

    async def _pack_anew(self, mirror: Mirror) -> None:
        """What nothing names goes after two weeks, as git has it."""
        packs = await asyncio.to_thread(mirror.packs)
        if packs > MOST_PACKS:
            env = environment(mirror.place, more=_SPARING)
            await git(["gc", "--auto", "--quiet"], env, bounds=_FETCH)

    async def _made(self, mirror: Mirror, hash_name: Hash) -> None:
        if (mirror.folder / "HEAD").exists():
            return
        await self._throw_away(mirror)
        await asyncio.to_thread(self._remove_unused)
        part = Path(tempfile.mkdtemp(prefix=_GONE, dir=self._folder))
        form = f"--object-format={hash_name}"
        quiet = ("init", "--quiet", "--bare", "--template=", form)
        await git([*quiet, "--", str(part / "new")], environment(Place(part / "new")))
        (part / "new").rename(mirror.folder)
        await asyncio.to_thread(part.rmdir)

    async def _throw_away(self, mirror: Mirror) -> None:
        gone = Path(tempfile.mkdtemp(prefix=_GONE, dir=self._folder))
        with suppress(FileNotFoundError):
            mirror.folder.rename(gone / "old")
        await asyncio.to_thread(shutil.rmtree, gone, ignore_errors=True)


async def _is_whole(mirror: Mirror) -> bool:
    """Whether all that its refs lead to is there."""
    look = ["fsck", "--connectivity-only", "--no-dangling", "--no-progress"]
    try:
        await git(look, environment(mirror.place), bounds=_LOOK)
    except GitFailed:
        return False
    return True


def _write(path: Path, data: bytes) -> None:
    part = path.with_suffix(".part")
    part.write_bytes(data)
    part.replace(path)
