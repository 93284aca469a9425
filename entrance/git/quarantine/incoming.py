"""One push's folder: its very bytes, and beside them what git makes of its pack.

`body` gets the bytes as they come; the pack goes to `git index-pack` at the same time, which checks each
object and builds `objects/`. The folder goes when the push is over, whatever came of it, unless it
was kept for a person; what a crash leaves is swept at the next start.
"""

import asyncio
import errno
import hashlib
import shutil
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from io import FileIO
from pathlib import Path

from entrance.errors import Unavailable
from entrance.git.body import RequestBody
from entrance.git.held import BODY, OBJECTS
from entrance.git.quarantine.git_child import Bounds, GitFailed, Place, environment, started
from entrance.git.quarantine.pack_index import IndexBrokenError, count_of, entries_of
from entrance.git.quarantine.room import check_room
from entrance.git.receive_pack import Hash, PushHead

FULL = "the door's disk is full; nothing was pushed, try again later"
_PREFIX = "push-"
_PACK_HEAD_BYTES = 12
_SECONDS = 3600.0
"""The longest push; what its client may be silent for is bounded where the body is read."""
_ANSWER_BYTES = 1 << 16
_ADDED_BYTES = 1 << 30
"""What git may add to a pack to complete it: a few bytes can name everything that the host has."""
GATHERED_BYTES = 1 << 19
PIECE_BYTES = 1 << 20
OID_BYTES: dict[Hash, int] = {"sha1": 20, "sha256": 32}
_TOO_LARGE = "maximum allowed size"
_DISK_FULL = ("No space left on device", "Disk quota exceeded")


class Refused(Exception):
    """The pack isn't taken. The message is a sentence for the agent."""


@dataclass(frozen=True, slots=True)
class Received:
    """A push that is here, whole. `count`: of the objects in the pack's index, the first ones were sent;
    those behind them git added to complete it."""

    size_bytes: int
    sha256: str
    """Of the whole body, hex."""
    pack_bytes: int
    index: Path
    count: int


class Incoming:
    """A folder for one push. `arrived` is set once all of the body is here."""

    def __init__(self, folder: Path, arrived: asyncio.Event) -> None:
        self.folder = folder
        self._arrived = arrived
        self._sha256 = ""

    @property
    def body(self) -> Path:
        return self.folder / BODY

    @property
    def objects(self) -> Path:
        return self.folder / OBJECTS

    async def receive(
        self, head: PushHead, body: RequestBody, mirror: Place, most_bytes: int
    ) -> Received:
        """Take the rest of the push. `mirror` has what a thin pack is made against.

        Raises: BodyError as the body does; Refused when git doesn't take the pack; Unavailable when
        the disk doesn't.
        """
        try:
            with self.body.open("xb", buffering=0) as file:
                spool = _Spool(file, self.folder)
                await spool.write(head.raw)
                pack = _pack_of(head, body, spool)
                first = await anext(pack, b"")
                if not first:
                    raise Refused("the push has no pack")
                said = await self._indexed(first, self._all_of(pack, spool), mirror, most_bytes)
            return await self._as_received(said, head, spool.size)
        except OSError as error:
            full = error.errno in {errno.ENOSPC, errno.EDQUOT}
            raise Unavailable(FULL if full else f"the push can't be kept: {error}") from error

    async def index_again(self, head: PushHead, mirror: Place, most_bytes: int) -> Received:
        """Build the objects anew from the body, on a mirror that has changed. Raises: as `receive`."""
        await asyncio.to_thread(shutil.rmtree, self.objects)
        self.objects.mkdir()
        pack = pieces_of(self.body, len(head.raw))
        said = await self._indexed(await anext(pack, b""), pack, mirror, most_bytes)
        return await self._as_received(said, head, self.body.stat().st_size)

    async def _as_received(self, said: bytes, head: PushHead, size_bytes: int) -> Received:
        pack_bytes = size_bytes - len(head.raw)
        index, count = await asyncio.to_thread(self._sent, said, head.hash_name, pack_bytes)
        return Received(size_bytes, self._sha256, pack_bytes, index, count)

    async def _all_of(self, pack: AsyncIterator[bytes], spool: "_Spool") -> AsyncIterator[bytes]:
        async for piece in pack:
            yield piece
        self._sha256 = spool.sha256
        self._arrived.set()

    async def _indexed(
        self, first: bytes, rest: AsyncIterator[bytes], mirror: Place, most_bytes: int
    ) -> bytes:
        """What index-pack says when it is through. Raises: Refused, Unavailable."""
        env = environment(Place(mirror.repository, self.objects))
        limit = f"--max-input-size={most_bytes}"
        command = ["index-pack", "--stdin", "--fix-thin", "--strict", limit]
        try:
            bounds = Bounds(_SECONDS, file_bytes=most_bytes + _ADDED_BYTES)
            async with started(command, env, bounds=bounds, feeds=True) as child:
                await child.write(first)
                async for piece in rest:
                    await child.write(piece)
                await child.write_end()
                said = b"".join([piece async for piece in child.pieces(_ANSWER_BYTES)])
                await child.ended()
        except GitFailed as failed:
            if _TOO_LARGE not in str(failed):
                async for _ in rest:
                    pass  # what was the mirror's fault is tried again, with the whole of it
            if any(word in str(failed) for word in _DISK_FULL):
                raise Unavailable(FULL) from failed
            raise Refused(f"git doesn't take the pack: {failed}") from failed
        return said

    def _sent(self, said: bytes, hash_name: Hash, pack_bytes: int) -> tuple[Path, int]:
        """What was sent. Raises: Refused when git has read less of it than goes to the host."""
        oid_bytes = OID_BYTES[hash_name]
        word, _, name = said.decode("ascii", "replace").strip().partition("\t")
        if word != "pack" or len(name) != 2 * oid_bytes:
            raise Refused("data follows the pack")
        path = self.objects / "pack" / f"pack-{name}.idx"
        with self.body.open("rb") as file:
            file.seek(-pack_bytes, 2)
            count = int.from_bytes(file.read(_PACK_HEAD_BYTES)[8:])
        ends = path.with_suffix(".pack").stat().st_size - oid_bytes
        index = path.read_bytes()
        try:
            known = count_of(index)
            if known > count:  # behind what was sent is what git added
                ends = entries_of(index, oid_bytes)[count].offset
        except IndexBrokenError as error:
            raise Refused(str(error)) from error
        if ends + oid_bytes != pack_bytes or known < count:
            # git stops reading where the pack ends; what came after would go on unseen.
            raise Refused("data follows the pack")
        return path, count


class _Spool:
    """Writes beside the loop, and knows what it has written."""

    def __init__(self, file: FileIO, folder: Path) -> None:
        self._file = file
        self._folder = folder
        self._hash = hashlib.sha256()
        self.size = 0

    @property
    def sha256(self) -> str:
        return self._hash.hexdigest()

    async def write(self, data: bytes) -> None:
        """Raises: OSError."""
        self.size += len(data)
        await asyncio.to_thread(self._write, data)

    def _write(self, data: bytes) -> None:
        check_room(self._folder)
        self._hash.update(data)
        left = memoryview(data)
        while left:
            left = left[self._file.write(left) :]


async def _pack_of(head: PushHead, body: RequestBody, spool: _Spool) -> AsyncIterator[bytes]:
    """The pack's bytes, each on its way to the disk while it is used. Raises: BodyError, OSError."""
    async for piece in _gathered(head.rest, body):
        writing = asyncio.ensure_future(spool.write(piece))
        try:
            yield piece
        finally:
            await writing


async def _gathered(first: bytes, body: RequestBody) -> AsyncIterator[bytes]:
    """In pieces that are worth a thread's while. Raises: BodyError."""
    held = bytearray(first)
    async for chunk in body:
        held += chunk
        if len(held) >= GATHERED_BYTES:
            yield bytes(held)
            held.clear()
    if held:
        yield bytes(held)


async def pieces_of(path: Path, start: int) -> AsyncIterator[bytes]:
    """A file from there on, read beside the loop."""
    with path.open("rb") as file:
        file.seek(start)
        while piece := await asyncio.to_thread(file.read, PIECE_BYTES):
            yield piece


class IncomingFolder:
    """Where pushes come in: below `folder`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def sweep(self) -> None:
        """Remove what was left. Blocking; before the first push."""
        self._folder.mkdir(parents=True, exist_ok=True)
        for left in self._folder.glob(f"{_PREFIX}*"):
            shutil.rmtree(left, ignore_errors=True)

    @asynccontextmanager
    async def place(self, arrived: asyncio.Event) -> AsyncIterator[Incoming]:
        """A folder for one push, gone after the block. Raises: Refused."""
        try:
            folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=self._folder))
            (folder / OBJECTS).mkdir()
        except OSError as error:
            raise Refused(FULL) from error
        try:
            yield Incoming(folder, arrived)
        finally:
            # Shielded: a request that was given up must leave nothing either.
            await asyncio.shield(asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True))
