"""The reading side of a client connection: mitmproxy's HTTP/1 parser, bounded, and nothing unseen.

What the parser rejects becomes a hook (`Rejected`) as any other attempt; a refused request is answered
before its body has come in; a head that never ends, a refused body and requests piled up behind one
don't fill our memory.
"""

import re
from dataclasses import dataclass

from mitmproxy.connection import ConnectionState
from mitmproxy.proxy import commands, events, layer
from mitmproxy.proxy.context import Context
from mitmproxy.proxy.layers.http import HttpLayer, HTTPMode
from mitmproxy.proxy.layers.http._base import ReceiveHttp
from mitmproxy.proxy.layers.http._events import (
    ErrorCode,
    HttpEvent,
    RequestHeaders,
    RequestProtocolError,
    ResponseProtocolError,
)
from mitmproxy.proxy.layers.http._http1 import Http1Server

from proxy.answers import raw, refusal, trouble
from proxy.decision import Cause, Deny, Refusal

MAX_HEAD = 64 << 10
"""Bytes of a head that is still read, so that what is too large is refused with a reason."""
MAX_CHUNK_HEAD = 64 << 10
"""Bytes of a chunk's header or of the trailers, of which nothing goes on."""
MAX_PILED = 256 << 10
"""Bytes that may wait behind a request that isn't answered yet."""
MAX_DRAINED = 1 << 20
"""Bytes of a refused body that are read, so that the client comes to read why."""

_CREDENTIALS = re.compile(r"(authorization\W*)[^\\]*", re.IGNORECASE)
"""mitmproxy quotes what it can't read, in Python's notation: a backslash ends a line."""


@dataclass
class Rejected(commands.StartHook):  # type: ignore[no-untyped-call]
    """A client sent what is no request."""

    reason: str


@dataclass(frozen=True, slots=True)
class Line:
    """A request line as it came, before mitmproxy makes its own sense of it."""

    scheme: str
    """Empty unless in absolute form."""
    authority: str
    target: str


class Reader(Http1Server):
    """One client connection's requests, or those in its tunnel."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.line = Line("", "", "")
        self.refused: Refusal | None = None
        """Why the request that is being read is refused, when it is."""
        self._drained = 0
        self._rejected = False

    def send(self, event: HttpEvent) -> layer.CommandGenerator[None]:
        """As mitmproxy's; a refusal, or a failure before any response, is told in our words."""
        if isinstance(event, ResponseProtocolError):
            yield from self._end(event)
        else:
            yield from super().send(event)

    def read_headers(self, event: events.ConnectionEvent) -> layer.CommandGenerator[None]:
        """As mitmproxy's, with a bound, and with a hook for what it only logs."""
        for command in super().read_headers(event):
            if isinstance(command, commands.Log):
                yield from self._reject(command.message)
            elif isinstance(command, commands.SendData):  # its page about what it can't read
                yield commands.SendData(command.connection, _UNREADABLE)
                continue
            elif isinstance(command, ReceiveHttp) and isinstance(command.event, RequestHeaders):
                data = command.event.request.data
                parts = (data.scheme, data.authority, data.path)
                self.line = Line(*(part.decode("latin-1") for part in parts))
                self.refused = None
            yield command
        if self.state == self.read_headers and len(self.buf) > MAX_HEAD:
            yield from self._reject(f"a request's head is larger than {MAX_HEAD} bytes")
            yield commands.CloseConnection(self.conn)
            self.state = self.done

    def read_body(self, event: events.Event) -> layer.CommandGenerator[None]:
        """As mitmproxy's, with a bound on what is not the body."""
        yield from super().read_body(event)
        if self.state == self.read_body and len(self.buf) > MAX_CHUNK_HEAD:
            self.state = self.done
            yield commands.CloseConnection(self.conn)
            reason = f"a chunk's header is larger than {MAX_CHUNK_HEAD} bytes"
            code = ErrorCode.GENERIC_CLIENT_ERROR
            yield ReceiveHttp(RequestProtocolError(self.stream_id, reason, code))

    def wait(self, event: events.Event) -> layer.CommandGenerator[None]:
        """As mitmproxy's, with a bound on what piles up."""
        yield from super().wait(event)
        if len(self.buf) > MAX_PILED:
            yield commands.CloseConnection(self.conn)

    def drain(self, event: events.Event) -> layer.CommandGenerator[None]:
        """Drop what comes: closing while it comes would take the answer away from the client."""
        self._drained += len(self.buf)
        self.buf.maybe_extract_at_most(len(self.buf))
        if isinstance(event, events.ConnectionClosed) or self._drained > MAX_DRAINED:
            yield commands.CloseConnection(self.conn)
            self.state = self.done

    def _end(self, event: ResponseProtocolError) -> layer.CommandGenerator[None]:
        status = event.code.http_status_code()
        if self.refused is not None:
            answer = raw(refusal(self.refused))
        elif not self.response and status is not None:
            answer = raw(trouble(status, event.message))
        else:
            answer = b""
        if answer and self.conn.state & ConnectionState.CAN_WRITE:
            yield commands.SendData(self.conn, answer)
        if answer and not self.request_done:
            self.state = self.drain
        else:
            yield commands.CloseConnection(self.conn)

    def _reject(self, reason: str) -> layer.CommandGenerator[None]:
        if not self._rejected:
            self._rejected = True
            yield Rejected(_CREDENTIALS.sub(r"\1...", reason))


_UNREADABLE = raw(refusal(Deny("this is no request that can be read", Cause.MALFORMED)))


def reading(context: Context, mode: HTTPMode) -> tuple[HttpLayer, Reader]:
    """An HTTP layer that reads its client with a `Reader`."""
    http = HttpLayer(context, mode)
    reader = Reader(context.fork())
    http.connections[context.client] = reader
    return http, reader
