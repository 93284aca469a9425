"""A web server for tests that does, on request, what no sound one does, and keeps all it was sent."""

import asyncio
import base64
import hashlib
import json
import socket
import ssl
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from urllib.parse import parse_qs, urlsplit

_GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
_CHUNK = b"y" * 65536


@dataclass
class Hit:
    """One request that arrived."""

    line: str
    headers: list[tuple[str, str]]
    body: bytes
    sni: str | None

    @property
    def path(self) -> str:
        return self.line.split(" ")[1]

    def header(self, name: str) -> str | None:
        """The first of that name."""
        return next((value for found, value in self.headers if found.lower() == name), None)


@dataclass
class Origin:
    """What arrived: connections, and the requests on them."""

    connections: int = 0
    hits: list[Hit] = field(default_factory=list)
    go_on: asyncio.Event = field(default_factory=asyncio.Event)
    """`/held` waits for it in the middle of its body."""
    says: Iterable[bytes] = ()
    """What `/said` answers, to the byte; then it closes."""
    _servers: list[asyncio.Server] = field(default_factory=list)
    _writers: set[asyncio.StreamWriter] = field(default_factory=set)
    _snis: dict[int, str | None] = field(default_factory=dict)

    async def start(self, sock: socket.socket, context: ssl.SSLContext | None = None) -> None:
        """Serve on a listening socket."""
        if context is not None:
            context.sni_callback = self._sni
        self._servers.append(await asyncio.start_server(self._serve, sock=sock, ssl=context))

    async def stop(self) -> None:
        """Serve no more."""
        self.go_on.set()
        for server in self._servers:
            server.close()
        for writer in list(self._writers):
            writer.transport.abort()
        for server in self._servers:
            await server.wait_closed()

    def _sni(self, tls: ssl.SSLObject, name: str | None, _context: ssl.SSLContext) -> None:
        self._snis[id(tls)] = name

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self._writers.add(writer)
        sni = self._snis.get(id(writer.get_extra_info("ssl_object")))
        try:
            while await self._one(reader, writer, sni):
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError, ssl.SSLError):
            pass
        finally:
            self._writers.discard(writer)
            writer.close()

    async def _one(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, sni: str | None
    ) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        line, *rest = head[:-4].split("\r\n")
        headers = [(name, value.strip()) for name, _, value in (one.partition(":") for one in rest)]
        hit = Hit(line, headers, b"", sni)
        self.hits.append(hit)
        hit.body = await _body(hit, reader)
        url = urlsplit(hit.path)
        query = {name: values[0] for name, values in parse_qs(url.query).items()}
        answer = getattr(self, f"_{url.path.strip('/').replace('/', '_') or 'plain'}", self._plain)
        done: Callable[..., Awaitable[bool]] = answer
        return await done(hit, writer, reader, query)

    async def _plain(self, hit: Hit, writer: asyncio.StreamWriter, *_: object) -> bool:
        text = json.dumps({"line": hit.line, "body": len(hit.body)}).encode()
        if hit.line.startswith("HEAD"):
            text = b""
        _head(writer, f"Content-Length: {len(text)}", "Content-Type: application/json")
        writer.write(text)
        return True

    async def _big(
        self, _: Hit, writer: asyncio.StreamWriter, _r: object, query: dict[str, str]
    ) -> bool:
        """`bytes` of them; `as` chunked, or ending with the connection."""
        left, how = int(query["bytes"]), query.get("as", "length")
        kind = f"Content-Type: {query.get('type', 'application/octet-stream')}"
        framing = {"length": f"Content-Length: {left}", "chunked": "Transfer-Encoding: chunked"}
        _head(writer, kind, framing.get(how, "Connection: close"))
        while left:
            part = _CHUNK[:left]
            left -= len(part)
            writer.write(b"%x\r\n%s\r\n" % (len(part), part) if how == "chunked" else part)
            await writer.drain()
        if how == "chunked":
            writer.write(b"0\r\n\r\n")
        return how != "eof"

    async def _held(self, _: Hit, writer: asyncio.StreamWriter, *_r: object) -> bool:
        """A first chunk, and the second when it is told to go on."""
        _head(writer, "Transfer-Encoding: chunked")
        writer.write(b"5\r\nfirst\r\n")
        await writer.drain()
        await self.go_on.wait()
        writer.write(b"6\r\nsecond\r\n0\r\n\r\n")
        return True

    async def _short(self, _: Hit, writer: asyncio.StreamWriter, *_r: object) -> bool:
        """Less than was said."""
        _head(writer, "Content-Length: 1000")
        writer.write(b"only this")
        return False

    async def _trailers(self, _: Hit, writer: asyncio.StreamWriter, *_r: object) -> bool:
        _head(writer, "Transfer-Encoding: chunked")
        writer.write(b"1\r\nx\r\n0\r\nX-Trailer: y\r\n\r\n")
        return True

    async def _endless(self, _: Hit, writer: asyncio.StreamWriter, *_r: object) -> bool:
        """A head that doesn't end, for a while."""
        writer.write(b"HTTP/1.1 200 OK\r\n")
        for number in range(4000):
            writer.write(b"X-%d: %s\r\n" % (number, b"z" * 1000))
            await writer.drain()
        writer.write(b"Content-Length: 0\r\n\r\n")
        return True

    async def _said(self, _: Hit, writer: asyncio.StreamWriter, *_r: object) -> bool:
        for part in self.says:
            writer.write(part)
            await writer.drain()
        return False

    async def _switch(self, _: Hit, writer: asyncio.StreamWriter, *_r: object) -> bool:
        """Another protocol, unasked."""
        writer.write(
            b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\nraw"
        )
        return False

    async def _redirect(self, _: Hit, writer: asyncio.StreamWriter, *_r: object) -> bool:
        place = "Location: http://169.254.169.254/latest/meta-data/"
        _head(writer, place, "Content-Length: 0", status="302 Found")
        return True

    async def _socket(
        self, hit: Hit, writer: asyncio.StreamWriter, reader: asyncio.StreamReader, *_: object
    ) -> bool:
        """A WebSocket that says back what it hears, once (RFC 6455; small frames only)."""
        key = (hit.header("sec-websocket-key") or "").encode()
        accept = base64.b64encode(hashlib.sha1(key + _GUID).digest()).decode()  # noqa: S324
        _head(
            writer,
            "Connection: Upgrade",
            "Upgrade: websocket",
            f"Sec-WebSocket-Accept: {accept}",
            status="101 Switching Protocols",
        )
        opcode, length = await reader.readexactly(2)
        mask = await reader.readexactly(4)
        masked = await reader.readexactly(length & 0x7F)
        text = bytes(one ^ mask[at % 4] for at, one in enumerate(masked))
        writer.write(bytes([opcode, len(text)]) + text)
        await writer.drain()
        await reader.read(64)
        return False


async def _body(hit: Hit, reader: asyncio.StreamReader) -> bytes:
    if hit.header("transfer-encoding") == "chunked":
        whole = b""
        while size := int(await reader.readline(), 16):
            whole += (await reader.readexactly(size + 2))[:-2]
        await reader.readline()
        return whole
    return await reader.readexactly(int(hit.header("content-length") or 0))


def _head(writer: asyncio.StreamWriter, *headers: str, status: str = "200 OK") -> None:
    writer.write("\r\n".join([f"HTTP/1.1 {status}", *headers, "", ""]).encode())
