"""Tunnels of one client connection: opened without dialling, opaque only where a rule says so."""

from mitmproxy.connection import Server
from mitmproxy.http import HTTPFlow
from mitmproxy.proxy import layer
from mitmproxy.proxy.layers import TCPLayer
from mitmproxy.proxy.layers.http import HTTPMode
from mitmproxy.proxy.layers.tls import ClientTLSLayer, ServerTLSLayer, parse_client_hello
from mitmproxy.tls import ClientHello, TlsData

from proxy.answers import refusal
from proxy.caller import Caller, Tunnel, address_of
from proxy.decision import Allow, Cause, Decision, Deny, Refusal
from proxy.door import Caught, head_of
from proxy.exchange import Exchange
from proxy.hosts import canonical_host
from proxy.reading import reading
from proxy.records import Attempt, Kind
from proxy.wire import as_text, tunnel_to

_TLS_RECORD = b"\x16"
_ENCRYPTED_CLIENT_HELLO = 0xFE0D
_MAX_HELLO = 32 << 10
"""Bytes on the wire, its records' heads included: each look at it is as long as it is."""
_NO_TLS = Deny("only TLS is let through here", Cause.MALFORMED)


class Tunnels:
    """CONNECT, and what is spoken in a tunnel."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller
        self._opaque: tuple[Exchange, Server] | None = None

    async def asked(self, flow: HTTPFlow) -> None:
        """A client asks for a tunnel. An allowed one is recorded by what is asked in it, or at its end."""
        caller = self._caller
        opened = self._open(flow)
        if isinstance(opened, Tunnel):
            caller.tunnel = opened
            flow.request.data.host, flow.request.data.port = opened.host, opened.port
        else:
            attempt = self._attempt(caller.reader.line.authority)
            if isinstance(opened, Caught):
                attempt, opened = opened.of(attempt), opened.refusal
            flow.response = refusal(await caller.door.refuse(attempt, opened))

    async def next_layer(self, asking: layer.NextLayer) -> None:
        """What is spoken in the tunnel: TLS that we open, TLS that we don't, or plain HTTP."""
        tunnel, context = self._caller.tunnel, asking.context
        data: bytes = asking.data_client()  # type: ignore[no-untyped-call]
        if tunnel is None:
            return
        in_tls = any(isinstance(one, ClientTLSLayer) for one in context.layers)
        if not in_tls and tunnel.allow.splice:
            await self._splice(asking, tunnel, data)
        elif not in_tls and data[:1] == _TLS_RECORD:
            self._open_tls(asking, tunnel, data)
        else:
            asking.layer, self._caller.reader = reading(context, HTTPMode.transparent)

    def _open_tls(self, asking: layer.NextLayer, tunnel: Tunnel, data: bytes) -> None:
        """Once the ClientHello is there: mitmproxy waits for one of any size, and reads it anew with
        each piece.
        """
        hello = _hello_in(data)
        if hello is None:
            return
        if isinstance(hello, Deny) and len(data) > _MAX_HELLO:
            tunnel.trouble = {"error": f"a ClientHello has at most {_MAX_HELLO} bytes"}
            self._caller.cut()
            return
        asking.layer = ServerTLSLayer(asking.context)
        asking.layer.child_layer = ClientTLSLayer(asking.context)

    def start_tls(self, data: TlsData) -> None:
        """Present the host that the client named, so that it can be told if that isn't the tunnel's."""
        tunnel = self._caller.tunnel
        if tunnel is None:
            return
        try:
            host = canonical_host(data.context.client.sni or "")
        except ValueError:
            host = tunnel.host
        data.ssl_conn = self._caller.door.leaves.accepting(host)

    def failed_tls(self, data: TlsData) -> None:
        """The client didn't want our certificate, or spoke no TLS that we do."""
        if self._caller.tunnel is not None:
            self._caller.tunnel.trouble = {"error": f"TLS with the client: {data.conn.error}"}

    def passed(self, number: int, *, out: bool) -> None:
        """So many bytes passed through an opaque tunnel."""
        if self._opaque is None:
            return
        exchange = self._opaque[0]
        body = exchange.sent if out else exchange.received
        body.count += number
        self._caller.moved(exchange, number)

    async def finish(self, sni: str | None) -> None:
        """The client has gone: tell what an opaque tunnel moved, or that nothing was asked in one."""
        tunnel = self._caller.tunnel
        if self._opaque is not None:
            self._tell_opaque(*self._opaque)
        elif tunnel is not None and not tunnel.told:
            await self._tell_unused(tunnel, sni)

    def _tell_opaque(self, exchange: Exchange, server: Server) -> None:
        caller, target = self._caller, address_of(server)
        detail = {} if target else {"reason": caller.undialable or server.error or ""}
        outcome = exchange.outcome("done" if target else "refused", target, **detail)
        caller.door.recorder.outcome(outcome.record())

    async def _tell_unused(self, tunnel: Tunnel, sni: str | None) -> None:
        door, sandbox = self._caller.door, self._caller.sandbox
        kind: Kind = "tls" if tunnel.trouble else "connect"
        attempt = self._attempt(f"{tunnel.host}:{tunnel.port}", sni, kind)
        if caught := self._caught(sni):
            await door.refuse(caught.of(attempt), caught.refusal)
        elif sandbox is not None:
            found = await door.admit(attempt, tunnel.allow, sandbox)
            if isinstance(found, Exchange):
                door.recorder.outcome(found.outcome("unused", "", **tunnel.trouble).record())

    def _open(self, flow: HTTPFlow) -> Tunnel | Refusal | Caught:
        caller = self._caller
        authority, text = caller.reader.line.authority, as_text(flow.request.headers.fields)
        if caught := caller.door.caught(caller.address, head_of(authority, text)):
            return caught
        sandbox = caller.door.who(caller.address, flow.request.headers.get("proxy-authorization"))
        if isinstance(sandbox, Deny):
            return sandbox
        caller.sandbox = sandbox
        place = tunnel_to(authority, text)
        if isinstance(place, Deny):
            return place
        decision = caller.door.tunnel(sandbox, *place)
        return (
            Tunnel(decision.host, place[1], decision) if isinstance(decision, Allow) else decision
        )

    async def _splice(self, asking: layer.NextLayer, tunnel: Tunnel, data: bytes) -> None:
        """Once the ClientHello is there: decide what is never looked at again."""
        hello = _hello_in(data)
        if hello is None:
            return
        decided: Decision = hello if isinstance(hello, Deny) else self._again(tunnel)
        sni = None
        if isinstance(hello, ClientHello):
            sni, kinds = hello.sni, [kind for kind, _ in hello.extensions]
            decided = _hello_flaw(sni, kinds, tunnel.host) or decided
        caller, tunnel.told = self._caller, True
        attempt = self._attempt(f"{tunnel.host}:{tunnel.port}", sni=sni)
        if caught := self._caught(sni):
            attempt, decided = caught.of(attempt), caught.refusal
        if isinstance(decided, Allow) and caller.sandbox is not None:
            found = await caller.door.admit(attempt, decided, caller.sandbox)
            if isinstance(found, Exchange):
                caller.dialable = decided.networks
                self._opaque = (found, asking.context.server)
                self.passed(len(data), out=True)
                asking.layer = TCPLayer(asking.context, ignore=True)
                return
        elif not isinstance(decided, Allow):
            await caller.door.refuse(attempt, decided)
        caller.cut()

    def _caught(self, sni: str | None) -> Caught | None:
        return self._caller.door.caught(self._caller.address, {"the SNI of a tunnel": sni or ""})

    def _again(self, tunnel: Tunnel) -> Decision:
        """The tunnel was allowed when it was asked for; whether it is now."""
        caller = self._caller
        if caller.sandbox is None:
            return Deny("nobody's tunnel", Cause.NO_IDENTITY)
        sandbox = caller.door.still(caller.sandbox)
        if isinstance(sandbox, Deny):
            return sandbox
        caller.sandbox = sandbox
        decided = caller.door.tunnel(sandbox, tunnel.host, tunnel.port)
        if isinstance(decided, Allow) and not decided.splice:
            return Deny(f"the tunnel to {tunnel.host} is not opaque any more", Cause.RULE)
        return decided

    def _attempt(self, authority: str, sni: str | None = None, kind: Kind = "connect") -> Attempt:
        host, _, port = authority.rpartition("@")[2].rpartition(":")
        return Attempt(
            kind=kind,
            address=self._caller.address,
            method="CONNECT",
            host=host,
            port=int(port) if port.isdecimal() and port.isascii() else None,
            sni=sni,
        )


def _hello_in(data: bytes) -> ClientHello | Deny | None:
    """The ClientHello; None while it has not come in whole."""
    try:
        hello = parse_client_hello(data)
    except ValueError:
        return _NO_TLS
    return hello if hello is not None or len(data) <= _MAX_HELLO else _NO_TLS


def _hello_flaw(sni: str | None, extensions: list[int], host: str) -> Deny | None:
    """What keeps a ClientHello from going through unopened: it must name the tunnel's host, in clear."""
    if _ENCRYPTED_CLIENT_HELLO in extensions:
        return Deny("an encrypted ClientHello could name another host", Cause.DISAGREEMENT)
    try:
        named = canonical_host(sni or "")
    except ValueError as error:
        return Deny(f"SNI: {error}", Cause.DISAGREEMENT)
    if named != host:
        return Deny(f"SNI says {named}, the tunnel is to {host}", Cause.DISAGREEMENT)
    return None
