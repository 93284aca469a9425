"""One client's connection: requests one after another, answers streamed, nothing waited for long."""

import asyncio
import contextlib
import sys
import traceback
from collections.abc import AsyncIterator, Callable

from execd.answer import Answer, Handler, Request, head_bytes, of_refusal
from execd.body import Body, Inbound
from execd.errors import Refused, told
from execd.wire import LAST_CHUNK, Head, body_length, chunk, request_head, split_target

FIRST_HEAD_S = 10.0
IDLE_S = 75.0
WRITE_STALL_S = 120.0
LINGER_S = 2.0
LINGER_BYTES = 4 << 20
WRITE_BUFFER = 256 * 1024


class Connection:
    """Serves one client until it ends, errs or stalls.

    `trusted` once it has shown the token. `streaming` while an answer is being streamed: a client
    that hangs up then has no more use for it (see `server`).
    """

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        *,
        trusts: Callable[[Head], bool],
        handle: Handler,
    ) -> None:
        self._inbound = Inbound(reader)
        self._writer = writer
        self._trusts = trusts
        self._handle = handle
        self.trusted = False
        self.streaming = False
        writer.transport.set_write_buffer_limits(high=WRITE_BUFFER)

    async def serve(self) -> None:
        """Answer requests until there are no more."""
        wait_s = FIRST_HEAD_S
        try:
            while await self._one(wait_s):
                wait_s = IDLE_S
            await self._linger()
        except (OSError, TimeoutError):  # the client is gone, or as good as
            self._writer.transport.abort()
        finally:
            self._writer.close()

    def drop(self) -> None:
        """End the connection now, whatever it does."""
        self._writer.transport.abort()

    async def _one(self, wait_s: float) -> bool:
        """Answer one request. Return whether the connection can be used again."""
        try:
            async with asyncio.timeout(wait_s):
                raw = await self._inbound.head()
            if raw is None:
                return False
            head = request_head(raw)
            body = Body(self._inbound, body_length(head.headers), self._before_body(head))
            self._must_be_trusted(head)
            path, query = split_target(head.target)
        except Refused as refused:
            await self._send(of_refusal(refused), keep=False)
            return False
        answer = await self._answer_to(Request(head, head.target, path, query, body))
        old_client = head.version == (1, 0)
        keep = head.keeps_alive and body.finished and not old_client
        await self._send(answer, keep=keep, old_client=old_client)
        return keep

    def _must_be_trusted(self, head: Head) -> None:
        if not self._trusts(head):
            raise Refused(401, "UNAUTHORIZED", "X-EXECD-ACCESS-TOKEN is missing or not right")
        self.trusted = True

    def _before_body(self, head: Head) -> Callable[[], None] | None:
        if head.headers.get("expect", "").lower() != "100-continue":
            return None
        return lambda: self._writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")

    async def _answer_to(self, request: Request) -> Answer:
        try:
            return await self._handle(request)
        except Refused as refused:
            return of_refusal(refused)
        except OSError as error:
            return of_refusal(told(error))
        except Exception:  # noqa: BLE001  # a bug in one handler must not end the sandbox
            traceback.print_exc(file=sys.stderr)
            return of_refusal(Refused(500, "RUNTIME_ERROR", "execd failed; this is a bug"))

    async def _send(self, answer: Answer, *, keep: bool, old_client: bool = False) -> None:
        body = answer.body
        if isinstance(body, bytes):
            framing = "" if answer.bare else f"Content-Length: {len(body)}"
            self._writer.write(head_bytes(answer, framing=framing, keep=keep) + body)
            await self._drain()
            return
        chunked = answer.length is None and not old_client
        framing = "Transfer-Encoding: chunked" if chunked else ""
        if answer.length is not None:
            framing = f"Content-Length: {answer.length}"
        self._writer.write(head_bytes(answer, framing=framing, keep=keep))
        self.streaming = True
        try:
            async with contextlib.aclosing(body) as pieces:
                await self._stream(pieces, chunked=chunked)
        finally:
            self.streaming = False

    async def _stream(self, pieces: AsyncIterator[bytes], *, chunked: bool) -> None:
        try:
            async for piece in pieces:
                if piece:
                    self._writer.write(chunk(piece) if chunked else piece)
                    await self._drain()
        except Refused as refused:  # half an answer is out: only a broken end can say so
            raise ConnectionAbortedError(refused.message) from refused
        if chunked:
            self._writer.write(LAST_CHUNK)
            await self._drain()

    async def _drain(self) -> None:
        await asyncio.sleep(0)  # an answer that never waits must not keep the others waiting
        if not self._writer.transport.get_write_buffer_size() and not self._writer.is_closing():
            return
        async with asyncio.timeout(WRITE_STALL_S):
            await self._writer.drain()

    async def _linger(self) -> None:
        """Read what is still coming, or the kernel resets the connection and with it the answer."""
        if not self._writer.can_write_eof() or self._writer.is_closing():
            return
        self._writer.write_eof()
        left = LINGER_BYTES
        async with asyncio.timeout(LINGER_S):
            while left > 0 and (data := await self._inbound.some()):
                left -= len(data)
