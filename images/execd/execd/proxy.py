"""/proxy/{port}/...: hands a request on to a server inside the sandbox, streaming both ways.

Only 127.0.0.1, and never the token. What answers belongs to the agent: its head is read strictly
and written anew, its body is passed on as it comes.
"""

import asyncio
from collections.abc import AsyncGenerator

from execd.answer import Answer, Request
from execd.body import UNTIL_END, Body, Inbound
from execd.errors import Refused, invalid
from execd.server import TOKEN_HEADER
from execd.wire import HOP_BY_HOP, LAST_CHUNK, Head, body_length, chunk, response_head

CONNECT_S = 5.0
HEAD_S = 600.0
NOT_HANDED_ON = HOP_BY_HOP | {TOKEN_HEADER, "host", "content-length", "expect"}
WITHOUT_BODY = frozenset({204, 304})


async def proxy(request: Request, port: str, target: str) -> Answer:
    """Return what the server on `port` answers to `target`.

    Raises: Refused 400 for a port that can't be, 502 when nobody (or no HTTP) answers there.
    """
    if not (port.isascii() and port.isdigit() and 0 < int(port[:6]) < 2**16):
        raise invalid(f"{port[:20]!r} is not a port")
    try:
        async with asyncio.timeout(CONNECT_S):
            reader, writer = await asyncio.open_connection("127.0.0.1", int(port))
    except (OSError, TimeoutError) as error:
        raise _bad_gateway(port, error) from error
    exchange = _Exchange(Inbound(reader), writer)
    try:
        head = await exchange.ask(request, port, target)
        return await exchange.answer(request.head.method, head)
    except (OSError, TimeoutError, Refused) as error:
        await exchange.hang_up()
        raise exchange.refused or _bad_gateway(port, error) from error
    except BaseException:
        await exchange.hang_up()
        raise


def _bad_gateway(port: str, error: Exception) -> Refused:
    return Refused(502, "BAD_GATEWAY", f"no answer from port {port}: {str(error) or 'timed out'}")


class _Exchange:
    """One request to, and one response from, a server inside. `refused`: our client's own fault."""

    def __init__(self, inbound: Inbound, writer: asyncio.StreamWriter) -> None:
        self._inbound = inbound
        self._writer = writer
        self._sending: asyncio.Future[None] | None = None
        self.refused: Refused | None = None

    async def ask(self, request: Request, port: str, target: str) -> Head:
        """Send the request; return the head of the final response. The body may still be sent.

        Raises: OSError, TimeoutError; Refused when what answers is not HTTP.
        """
        self._writer.write(_head_for(request, port, target))
        # No TaskGroup: this outlives the call. `hang_up` ends it, and every way out leads there.
        self._sending = asyncio.ensure_future(self._send_body(request.body))
        return await self._final_head()

    async def _send_body(self, body: Body) -> None:
        chunked = body.length is None
        try:
            async for piece in body.chunks():
                self._writer.write(chunk(piece) if chunked else piece)
                await self._writer.drain()
            if chunked:
                self._writer.write(LAST_CHUNK)
        except OSError:
            return  # it has answered without reading all, or not: its answer tells
        except Refused as refused:
            self.refused = refused
            self._writer.transport.abort()

    async def _final_head(self) -> Head:
        while True:
            async with asyncio.timeout(HEAD_S):
                raw = await self._inbound.head()
            if raw is None:
                raise ConnectionResetError("it hung up")
            head = response_head(raw)
            if head.status >= 200:  # noqa: PLR2004  # 1xx are interim
                return head

    async def answer(self, method: str, head: Head) -> Answer:
        """Return the response as ours; its body is passed on while it comes."""
        headers = tuple(
            (name, value)
            for name, value in head.fields
            if name.lower() not in HOP_BY_HOP and name.lower() != "content-length"
        )
        if method == "HEAD" or head.status in WITHOUT_BODY:
            await self.hang_up()
            return Answer(head.status, content_type="", headers=headers, bare=True)
        has_length = "content-length" in head.headers or "transfer-encoding" in head.headers
        length = body_length(head.headers) if has_length else UNTIL_END
        return Answer(
            head.status,
            body=self._passed_on(Body(self._inbound, length)),
            content_type="",
            headers=headers,
            length=None if length == UNTIL_END else length,
        )

    async def _passed_on(self, body: Body) -> AsyncGenerator[bytes, None]:
        try:
            async for piece in body.chunks():
                yield piece
        finally:
            await self.hang_up()

    async def hang_up(self) -> None:
        """End both directions; afterwards nobody reads our client's body any more."""
        self._writer.transport.abort()
        if self._sending is not None:
            self._sending.cancel()
            await asyncio.wait([self._sending])


def _head_for(request: Request, port: str, target: str) -> bytes:
    lines = [f"{request.head.method} {target} HTTP/1.1", f"Host: 127.0.0.1:{port}"]
    lines += [
        f"{name}: {value}"
        for name, value in request.head.fields
        if name.lower() not in NOT_HANDED_ON
    ]
    if request.body.length is None:
        lines.append("Transfer-Encoding: chunked")
    elif request.body.length or request.head.method in {"POST", "PUT", "PATCH"}:
        lines.append(f"Content-Length: {request.body.length}")
    lines.append("Connection: close")
    return "\r\n".join([*lines, "", ""]).encode("latin-1")
