"""A kept push on its way: where its branches are at the host, and its very bytes sent there.

It decides nothing, and remembers nothing: whoever has it sent sees to it that this is done once.
"""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import BinaryIO

from aiohttp import hdrs

from entrance.errors import Conflict, NotFound, SandgateError
from entrance.git.body import CHUNK_BYTES
from entrance.git.held import HeldPacks
from entrance.git.pktline import ProtocolError
from entrance.git.receive_pack import HeadParser, PushHead, hash_name_of
from entrance.git.report import Report, ReportReader
from entrance.git.standing import Stand, stand_of
from entrance.git.upstream import GitHost, request_headers
from entrance.log.body_hash import BodyHash
from entrance.log.records import Traffic
from entrance.ports import Moved
from entrance.session import RepoGrant


@dataclass(frozen=True, slots=True)
class Wanted:
    """A kept push: its bytes by name and hash, and what they say."""

    push: str
    sha256: str
    moved: tuple[Moved, ...]


@dataclass(frozen=True, slots=True)
class Sent:
    """What came of it. `trouble`: why the host's report was not read to its end, or empty."""

    report: Report
    traffic: Traffic
    trouble: str = ""


class Release:
    """Speaks to the hosts for pushes that people have allowed."""

    def __init__(self, host: GitHost, packs: HeldPacks) -> None:
        self._host = host
        self._packs = packs

    async def stand(self, grant: RepoGrant, moved: Sequence[Moved]) -> Stand:
        """Where the branches are now. Raises: Unavailable, Forbidden, NotFound, Malformed."""
        refs = frozenset(one.ref.encode() for one in moved)
        listing = await self._host.listing(grant, hash_name_of(moved[0].new), refs)
        oids, targets = listing.asked, listing.targets
        return stand_of(
            moved,
            {ref.decode("utf-8", "replace"): oid for ref, oid in oids.items()},
            {ref.decode("utf-8", "replace"): _text(target) for ref, target in targets.items()},
        )

    async def check(self, wanted: Wanted) -> None:
        """That the bytes are there, and are those that were kept.

        Raises: NotFound when they are gone, Conflict when they are others.
        """
        file, _ = await asyncio.to_thread(_opened, self._packs, wanted)
        file.close()

    async def send(self, grant: RepoGrant, wanted: Wanted) -> Sent:
        """Send the kept bytes, once. The answer may be lost after they have arrived.

        Raises: as `check`; then nothing was sent.
        """
        file, head = await asyncio.to_thread(_opened, self._packs, wanted)
        with file:
            sent, came = BodyHash(), BodyHash()
            size = await asyncio.to_thread(_size, file)
            headers = {**request_headers({}), hdrs.CONTENT_LENGTH: str(size)}
            reader = ReportReader(head.capabilities)
            source = self._host.request(grant, "git-receive-pack", headers, _streamed(file, sent))
            trouble = ""
            try:
                async with source as answer:
                    async for chunk in answer.content.iter_any():
                        came.feed(chunk)
                        reader.feed(chunk)
            except SandgateError as error:
                trouble = str(error)
        return Sent(reader.report(), Traffic.of(sent, came), trouble)


def _opened(packs: HeldPacks, wanted: Wanted) -> tuple[BinaryIO, PushHead]:
    """The file at its beginning, once it was read to its end. Raises: as `Release.check`."""
    try:
        file = packs.get(wanted.push).body.open("rb")
    except FileNotFoundError as error:
        raise NotFound("the bytes of the push are gone") from error
    head = _head(file)
    digest = hashlib.file_digest(file, "sha256").hexdigest()
    file.seek(0)
    said = [Moved(one.name, one.old, one.new) for one in head.updates] if head else []
    if head is None or digest != wanted.sha256 or tuple(said) != wanted.moved:
        file.close()
        raise Conflict("the bytes of the push are not those that were held")
    return file, head


def _head(file: BinaryIO) -> PushHead | None:
    """The commands that it begins with; it is at its beginning again then."""
    parser, head = HeadParser(), None
    try:
        while head is None and (chunk := file.read(CHUNK_BYTES)):
            head = parser.feed(chunk)
    except ProtocolError:
        head = None
    file.seek(0)
    return head


def _size(file: BinaryIO) -> int:
    size = file.seek(0, 2)
    file.seek(0)
    return size


async def _streamed(file: BinaryIO, sent: BodyHash) -> AsyncIterator[bytes]:
    while chunk := await asyncio.to_thread(file.read, CHUNK_BYTES):
        sent.feed(chunk)
        yield chunk


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")
