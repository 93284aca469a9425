"""The answer to a push: git's own report, whatever happens, and signs of life until it is there.

Once a 200 has begun, an answer that breaks off would make git print "Everything up-to-date".
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from http import HTTPStatus

from aiohttp import web

from entrance.git.receive_pack import PushHead
from entrance.git.refs import PushVerdict, refuse_all
from entrance.git.relay import Relay, SandboxGoneError, plain
from entrance.git.report import encode_refusal

RESULT = "application/x-git-receive-pack-result"
SIGN_OF_LIFE = b"0005\x02"
"""An empty line of the progress band: git prints nothing for it."""
EVERY_S = 5.0


class PushAnswer:
    """The answer to one push. `relay` is what it is written to."""

    def __init__(self, request: web.Request, head: PushHead) -> None:
        self._head = head
        self.relay = Relay(request, RESULT)

    async def refuse(self, verdict: PushVerdict) -> web.StreamResponse:
        """Every ref with its reason. Raises: SandboxGoneError."""
        note = f"sandgate: {verdict.decision.reason}"
        head = self._head
        told = encode_refusal(head.capabilities, verdict.refusals, note) if head.updates else None
        if told is None:
            return plain(HTTPStatus.FORBIDDEN, note)
        await self.relay.write(told)
        return await self.relay.finish()

    async def forbid(self, sentence: str) -> web.StreamResponse:
        """A sentence and no more, where the answer has not begun. Raises: SandboxGoneError."""
        if self.relay.started:
            return await self.refuse(refuse_all(self._head.updates, sentence))
        return plain(HTTPStatus.FORBIDDEN, sentence)

    @asynccontextmanager
    async def kept_alive(
        self, arrived: asyncio.Event, every_s: float = EVERY_S
    ) -> AsyncIterator[None]:
        """Inside the block git hears something now and then, if it can, once its push has `arrived`."""
        if not self._head.capabilities & {"side-band-64k", "side-band"}:
            yield
            return
        living = asyncio.ensure_future(self._live(arrived, every_s))
        try:
            yield
        finally:
            living.cancel()
            await asyncio.wait([living])

    async def _live(self, arrived: asyncio.Event, every_s: float) -> None:
        await arrived.wait()
        with suppress(SandboxGoneError):
            while True:
                await asyncio.sleep(every_s)
                await self.relay.write(SIGN_OF_LIFE)
