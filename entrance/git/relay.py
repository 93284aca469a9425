"""Answers to the sandbox: a stream passed on as it comes, or a sentence in plain text."""

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager, suppress

import aiohttp
from aiohttp import hdrs, web

from entrance.errors import SandgateError
from entrance.git.pktline import ProtocolError
from entrance.log.body_hash import BodyHash

_NOT_CACHED: Mapping[str, str] = {
    hdrs.CACHE_CONTROL: "no-cache, max-age=0, must-revalidate",
    hdrs.PRAGMA: "no-cache",
    hdrs.EXPIRES: "Fri, 01 Jan 1980 00:00:00 GMT",
}


class SandboxGoneError(Exception):
    """The sandbox closed the connection before the answer was whole."""


class Relay:
    """A 200 that starts with its first bytes; until then another answer can still be given."""

    def __init__(self, request: web.Request, content_type: str) -> None:
        self._request = request
        self._response = web.StreamResponse(
            headers={hdrs.CONTENT_TYPE: content_type, **_NOT_CACHED}
        )
        self.came = BodyHash()

    @property
    def started(self) -> bool:
        return self._response.prepared

    async def write(self, chunk: bytes) -> None:
        """Raises: SandboxGoneError."""
        if not chunk:
            return
        self.came.feed(chunk)
        try:
            if not self.started:
                await self._response.prepare(self._request)
            await self._response.write(chunk)
        except ConnectionError as error:
            raise SandboxGoneError("the sandbox left before the answer was whole") from error

    async def pass_on(
        self,
        source: AbstractAsyncContextManager[aiohttp.ClientResponse],
        see: Callable[[bytes], object],
    ) -> Exception | None:
        """Stream the host's answer on; `see` looks at each chunk, and replaces it if it gives bytes.

        Returns what went wrong with the host, its answer or the sandbox, or None.
        """
        try:
            async with source as answer:
                async for chunk in answer.content.iter_any():
                    seen = see(chunk)
                    await self.write(seen if isinstance(seen, bytes) else chunk)
        except (SandgateError, ProtocolError, SandboxGoneError) as error:
            return error
        return None

    async def finish(self) -> web.StreamResponse:
        with suppress(ConnectionError):  # a client may leave with the last byte that it wants
            if not self.started:
                await self._response.prepare(self._request)
            await self._response.write_eof()
        return self._response

    def cut_off(self) -> web.StreamResponse:
        """End a started answer so that the sandbox can't take it for whole."""
        if self._request.transport is not None:
            self._request.transport.abort()
        return self._response


def plain(status: int, sentence: str) -> web.Response:
    """One sentence; git prints it as `remote: ...` when it asked for `info/refs`."""
    return web.Response(status=status, text=f"{sentence}\n")
