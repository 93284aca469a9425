"""A fast web server for the egress proxy's bench, in a process of its own.

    python -m tests.bench.egress_origin ADDRESS CERTIFICATE

GET /small: 1 KB; /N: N MB; /trickle: a chunk now, and one a moment later.
"""

import asyncio
import ssl
import sys

_SMALL = b"HTTP/1.1 200 OK\r\nContent-Length: 1024\r\n\r\n" + b"x" * 1024
_PART = b"y" * (1 << 18)
_MOMENT_S = 0.3


class _Origin(asyncio.Protocol):
    def __init__(self) -> None:
        self._buffer = b""
        self._left = 0
        self._transport: asyncio.Transport | None = None
        self._paused = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        while b"\r\n\r\n" in self._buffer:
            head, _, self._buffer = self._buffer.partition(b"\r\n\r\n")
            self._answer(head.split(b" ", 2)[1].removeprefix(b"/").decode())

    def pause_writing(self) -> None:
        self._paused = True

    def resume_writing(self) -> None:
        self._paused = False
        self._pour()

    def _answer(self, what: str) -> None:
        assert self._transport is not None
        if what == "small":
            self._transport.write(_SMALL)
        elif what == "trickle":
            self._transport.write(
                b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfirst\r\n"
            )
            loop = asyncio.get_running_loop()
            loop.call_later(_MOMENT_S, self._transport.write, b"4\r\nlast\r\n0\r\n\r\n")
        else:
            self._left = int(what) << 20
            self._transport.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % self._left)
            self._pour()

    def _pour(self) -> None:
        while self._left and not self._paused and self._transport is not None:
            part = _PART[: self._left]
            self._left -= len(part)
            self._transport.write(part)


async def _serve(address: str, certificate: str) -> None:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate)
    loop = asyncio.get_running_loop()
    secure = await loop.create_server(_Origin, address, 443, ssl=context)
    plain = await loop.create_server(_Origin, address, 80)
    async with secure, plain:
        await secure.serve_forever()


if __name__ == "__main__":
    asyncio.run(_serve(*sys.argv[1:]))
