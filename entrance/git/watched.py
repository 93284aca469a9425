"""What a sandbox sends to a git host, looked through for its honeytokens on the way.

A push's list of commands and options as it is; its pack inflated, object by object, with commits,
names, files, and what deltas add. A piece goes on once it was looked through: of a pack with a canary
in it the host gets a beginning that it can't use.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping
from http import HTTPStatus

from entrance.git.body import BodyError, RequestBody
from entrance.git.pack import PackReader
from entrance.git.pktline import ProtocolError
from entrance.git.receive_pack import Hash, PushHead
from entrance.honeytokens.canaries import Canary
from entrance.honeytokens.traps import Traps
from entrance.honeytokens.watch import TO_THE_SANDBOX, Attempt, Watch
from entrance.session import Session

_OID_BYTES: Mapping[Hash, int] = {"sha1": 20, "sha256": 32}


class Watched:
    """The bytes of one request. `found` says what was found, once the bytes have ended early."""

    def __init__(self, traps: Traps) -> None:
        self._stream = traps.stream()
        self._traps = traps
        self.found: Canary | None = None
        self.where = ""
        self.trouble = ""
        """Why the bytes were not passed on to their end; empty when they were."""

    async def fetch(self, body: RequestBody) -> AsyncIterator[bytes]:
        """The body of a fetch. Raises: BodyError."""
        async for chunk in body:
            self._let_pass(self._stream.feed(chunk), "a git fetch")
            yield chunk

    def head(self, head: PushHead) -> bool:
        """Whether there is one in a push's commands and options."""
        self.found, self.where = self._traps.within(head.raw), "the commands of a git push"
        return self.found is not None

    async def push(self, head: PushHead, body: RequestBody) -> AsyncIterator[bytes]:
        """The whole body of a push. Raises: BodyError."""
        reader = PackReader(_OID_BYTES[head.hash_name])
        if head.rest:
            await self._look(reader, head.rest)
        yield head.raw + head.rest
        async for chunk in body:
            await self._look(reader, chunk)
            yield chunk
        if reader.begun and not reader.whole:
            raise self._refusal("the pack breaks off")

    async def _look(self, reader: PackReader, data: bytes) -> None:
        """Raises: BodyError when the pack is not to go on."""
        try:
            found = await asyncio.to_thread(self._first_in, reader, data)
        except ProtocolError as error:
            raise self._refusal(str(error)) from error
        self._let_pass(found, "a pushed pack")

    def _first_in(self, reader: PackReader, data: bytes) -> Canary | None:
        for piece in reader.feed(data):
            if found := self._stream.feed(piece):
                return found
        return self._stream.feed(b"", last=True) if reader.whole else None

    def _refusal(self, why: str) -> BodyError:
        self.trouble = why
        return BodyError(HTTPStatus.BAD_REQUEST, why)

    def _let_pass(self, found: Canary | None, where: str) -> None:
        """Raises: BodyError unless nothing was found."""
        if found:
            self.found, self.where = found, where
            self.trouble = f"there is a honeytoken in {where}"
            raise BodyError(HTTPStatus.FORBIDDEN, TO_THE_SANDBOX)


async def report(watch: Watch, session: Session, watched: Watched, attempt: Attempt) -> None:
    """Have it recorded when something was found, and the alarm raised. Raises: Unavailable."""
    if watched.found:
        await watch.refuse(session, watched.found, watched.where, attempt)
