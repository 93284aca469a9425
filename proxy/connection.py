"""One client connection in mitmproxy's core: its hooks, handed to the parts that answer them."""

import asyncio
import logging
import socket
import struct
from collections.abc import Awaitable, Callable
from contextlib import suppress
from types import SimpleNamespace
from typing import Any

import structlog
from mitmproxy.connection import Connection as Transport
from mitmproxy.proxy import commands, events, server_hooks
from mitmproxy.proxy.layer import NextLayerHook
from mitmproxy.proxy.layers import tls, websocket
from mitmproxy.proxy.layers.http import HTTPMode, _hooks
from mitmproxy.proxy.mode_specs import ProxyMode
from mitmproxy.proxy.server import LiveConnectionHandler

from proxy.backlog import MAX_RESPONSE_GAP
from proxy.caller import Caller
from proxy.decision import Cause, Deny
from proxy.dial import Undialable, judge
from proxy.door import Door
from proxy.flows import Flows
from proxy.hooks import Answering
from proxy.pieces import Gathered, LargeReads
from proxy.reading import Rejected, reading
from proxy.records import Attempt
from proxy.tunnels import Tunnels

OPTIONS = SimpleNamespace(
    tcp_timeout=600,
    connection_strategy="lazy",
    validate_inbound_headers=True,
    http2=False,
    rawtcp=False,
    websocket=True,
    store_streamed_bodies=False,
    stream_large_bodies=None,
    body_size_limit=None,
    proxy_debug=False,
)
"""What mitmproxy's core looks at of its options; its own object copies each value at every look."""
_RESET = struct.pack("ii", 1, 0)
_log = structlog.get_logger(__name__)
Answer = Callable[[Any], None]
Awaited = Callable[[Any], Awaitable[None]]


class Connection(LiveConnectionHandler):
    """Serves one client. What goes wrong in it ends it."""

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        door: Door,
    ) -> None:
        super().__init__(reader, writer, OPTIONS, ProxyMode.parse("regular"))  # type: ignore[arg-type]
        self._socket: socket.socket = writer.get_extra_info("socket")
        self._gathered = Gathered(writer)
        self.transports[self.client].writer = self._gathered  # type: ignore[assignment]
        top, first = reading(self.layer.context, HTTPMode.regular)
        self.caller = Caller(
            door=door,
            address=str(self.client.peername[0]),
            cut=self.cut,
            hang_up=self._hang_up,
            reader=first,
        )
        self._flows = Flows(self.caller)
        self._tunnels = Tunnels(self.caller)
        self._decided = asyncio.Event()
        self._decided.set()
        self._answers = self._answering()
        self._awaited = self._awaiting()
        self.layer = Answering(top, self._awaited, self._answer)  # type: ignore[assignment]

    def cut(self) -> None:
        """End it at once with a reset: what was going on can't be taken for whole."""
        self._gathered.stop()
        with suppress(OSError):
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
        transport = self.transports.get(self.client)
        if transport is not None and transport.handler is not None:
            transport.handler.cancel("cut")

    def release(self) -> None:
        """Close what is still open after its end: mitmproxy leaves a connection open whose handler was
        cancelled while it waited for its turn.
        """
        for left in self.transports.values():
            if isinstance(left.writer, asyncio.StreamWriter | Gathered):
                left.writer.transport.abort()

    async def handle_connection(self, connection: Transport) -> None:
        """As mitmproxy's, but for how much is taken from a server at once."""
        transport = self.transports[connection]
        if connection is not self.client and isinstance(transport.reader, asyncio.StreamReader):
            transport.reader = LargeReads(transport.reader)  # type: ignore[assignment]
        await super().handle_connection(connection)

    async def handle_hook(self, hook: commands.StartHook) -> None:
        """Answer a hook that has to be waited for; one that can't be answered ends the connection."""
        answer = self._awaited.get(type(hook))
        if answer is None:
            return
        try:
            await answer(*hook.args())
        except Exception:  # noqa: BLE001 - a bug refuses what it is about, and nothing else
            self._unanswered(hook)

    def _answer(self, hook: commands.StartHook) -> None:
        """The same for one that hasn't."""
        answer = self._answers.get(type(hook))
        if answer is None:
            return
        try:
            answer(*hook.args())
        except Exception:  # noqa: BLE001
            self._unanswered(hook)

    def _unanswered(self, hook: commands.StartHook) -> None:
        _log.exception("hook_failed", hook=hook.name)
        self.cut()

    async def server_event(self, event: events.Event) -> None:
        """As mitmproxy's; nothing more is read of a client whose request is being decided."""
        if isinstance(event, events.DataReceived):
            if event.connection is self.client:
                await self._decided.wait()
                self._tunnels.passed(len(event.data), out=True)
                backlog = self.caller.from_client
            else:
                self._tunnels.passed(len(event.data), out=False)
                backlog = self.caller.from_server
            if backlog.overflows_with(len(event.data)):
                self._flows.cut(f"more than {backlog.most} bytes came, and none could be passed on")
                return
        await super().server_event(event)
        self._gathered.send()

    def log(self, message: str, level: int = logging.INFO, exc_info: Any = None) -> None:
        """What mitmproxy has to say is of interest when it is a bug: then the connection ends."""
        if level >= logging.ERROR:
            _log.error("engine_failed", message=message, exc_info=exc_info or None)
            self.cut()

    def _answering(self) -> dict[type[commands.StartHook], Answer]:
        flows, tunnels = self._flows, self._tunnels
        return {
            _hooks.HttpResponseHeadersHook: flows.responded,
            _hooks.HttpResponseHook: flows.ended,
            _hooks.HttpErrorHook: flows.failed,
            websocket.WebsocketMessageHook: flows.frame,
            websocket.WebsocketEndHook: flows.closed_socket,
            tls.TlsStartClientHook: tunnels.start_tls,
            tls.TlsStartServerHook: self._start_tls,
            tls.TlsFailedClientHook: tunnels.failed_tls,
        }

    def _awaiting(self) -> dict[type[commands.StartHook], Awaited]:
        return {
            NextLayerHook: self._deciding(self._tunnels.next_layer),
            _hooks.HttpConnectHook: self._deciding(self._tunnels.asked),
            _hooks.HttpRequestHeadersHook: self._deciding(self._requested),
            server_hooks.ServerConnectHook: self._dial,
            server_hooks.ClientDisconnectedHook: self._finish,
            Rejected: self._rejected,
        }

    def _deciding(self, answer: Awaited) -> Awaited:
        async def decide(argument: Any) -> None:
            self._decided.clear()
            try:
                await answer(argument)
            finally:
                self._decided.set()

        return decide

    async def _requested(self, flow: Any) -> None:
        await self._flows.requested(flow)
        self.caller.from_server.expect(MAX_RESPONSE_GAP)

    def _start_tls(self, data: Any) -> None:
        host = data.conn.address[0]
        data.conn.sni = host
        data.ssl_conn = self.caller.door.upstream.connecting(host)

    async def _dial(self, data: server_hooks.ServerConnectionHookData) -> None:
        """The only way to a server: its name is resolved, and every address judged, right before."""
        server, caller = data.server, self.caller
        host, port = server.address[:2] if server.address else ("", 0)
        try:
            await judge(
                *(host, port, caller.address, caller.door.resolver),
                refused=caller.door.applied.refused,
                networks=caller.dialable,
            )
        except Undialable as error:
            server.error = str(error)
            if error.forbidden:
                caller.undialable = str(error)

    async def _rejected(self, reason: str) -> None:
        caller = self.caller
        if caller.tunnel is not None:
            caller.tunnel.told = True
        attempt = Attempt(
            kind="request",
            address=caller.address,
            host=caller.tunnel.host if caller.tunnel is not None else "",
            port=caller.tunnel.port if caller.tunnel is not None else None,
        )
        said = reason.removeprefix(f"{caller.address}:{self.client.peername[1]}: ")
        refusal = Deny(said[:300], Cause.MALFORMED)
        if caught := caller.door.caught(caller.address, {"what is no request": said}):
            attempt, refusal = caught.of(attempt), caught.refusal
        await caller.door.refuse(attempt, refusal)

    async def _finish(self, _client: Any) -> None:
        self._flows.finish()
        await self._tunnels.finish(self.client.sni)

    def _hang_up(self, server: Transport) -> None:
        transport = self.transports.get(server)
        if transport is not None and transport.handler is not None:
            transport.handler.cancel("enough")
