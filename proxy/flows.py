"""The requests of one client connection: mitmproxy's hooks, answered by the policy."""

from collections.abc import Iterable

from mitmproxy.http import Headers as FlowHeaders
from mitmproxy.http import HTTPFlow, Response

from proxy.answers import as_json, refusal
from proxy.backlog import MAX_MESSAGE
from proxy.caller import Caller, address_of
from proxy.decision import Allow, Cause, Decision, Deny, Refusal
from proxy.dial import is_own
from proxy.door import Caught, head_of
from proxy.exchange import Exchange
from proxy.hosts import host_and_port
from proxy.policy import SandboxPolicy
from proxy.records import Attempt, Result
from proxy.responses import content_flaw, passed_back
from proxy.rules import DEFAULT_PORTS
from proxy.wire import Wire, as_text, sent_on, size_of

STATUS = "/.sandgate/status"
"""The proxy's own state, told to this machine only."""
_UPGRADE = ((b"Connection", b"Upgrade"), (b"Upgrade", b"websocket"))
_SWITCHING = 101
_DIGITS = 5
"""Of a port."""


class Flows:
    """Decides requests, hands allowed ones on, and follows them to their outcome."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller
        self._open: dict[str, tuple[HTTPFlow, Exchange]] = {}

    async def requested(self, flow: HTTPFlow) -> None:
        """A request's head has come in: decide it, and have that recorded, before anything leaves."""
        caller = self._caller
        if self._asks_for_status(flow):
            flow.response = as_json(caller.door.status())
            return
        if caller.tunnel is not None:
            caller.tunnel.told = True
        wire = self._wire(flow)
        found = await self._admit(flow, wire)
        if isinstance(found, Exchange):
            self._hand_on(flow, wire, found)
        else:
            self._refuse(flow, found)

    def responded(self, flow: HTTPFlow) -> None:
        """A response's head has come in: it is passed on as it streams, or broken off."""
        found = self._open.get(flow.id)
        if found is None or flow.response is None:
            return
        exchange = found[1]
        response = flow.response
        exchange.status = response.status_code
        exchange.heads_in += size_of(response.headers.fields)
        self._caller.moved(exchange, exchange.heads_in)
        self._caller.from_server.passed_on()
        if response.status_code == _SWITCHING:
            self._switched(response, exchange)
            return
        flow.response = passed_back(response, flow.request)
        refused = content_flaw(response, exchange.allow, flow.request.method)
        if refused:
            self._replace(flow, exchange, refused)
        else:
            flow.response.stream = lambda data: self._received(exchange, data)

    def _switched(self, response: Response, exchange: Exchange) -> None:
        """To WebSocket, without extensions: what is compressed could be of any size."""
        if not exchange.allow.upgrade:
            self._caller.break_off(exchange, "the server switched protocols unasked")
        response.headers.pop("sec-websocket-extensions", None)
        self._caller.from_client.expect(MAX_MESSAGE)
        self._caller.from_server.expect(MAX_MESSAGE)

    def ended(self, flow: HTTPFlow) -> None:
        """A response has been passed on whole. One that became a WebSocket goes on."""
        if flow.websocket is None:
            self._tell(flow, "done")

    def failed(self, flow: HTTPFlow) -> None:
        """A request or its response broke off."""
        self._tell(flow, "failed", error=flow.error.msg if flow.error else "")

    def frame(self, flow: HTTPFlow) -> None:
        """A WebSocket message passes."""
        found = self._open.get(flow.id)
        if found is None or flow.websocket is None:
            return
        caller, exchange = self._caller, found[1]
        for message in flow.websocket.messages:
            if message.from_client:
                backlog, body = caller.from_client, exchange.sent
                self._look(exchange, message.content, "a WebSocket message")
            else:
                backlog, body = caller.from_server, exchange.received
            backlog.passed_on()
            body.add(message.content)
            caller.moved(exchange, len(message.content))
            if exchange.cut:
                message.drop()  # type: ignore[no-untyped-call]
        flow.websocket.messages.clear()

    def closed_socket(self, flow: HTTPFlow) -> None:
        """A WebSocket has ended."""
        self._tell(flow, "done")

    def cut(self, reason: str) -> None:
        """End the connection, and with it what is going on."""
        for _, exchange in self._open.values():
            exchange.cut = exchange.cut or reason
        self._caller.cut()

    def finish(self) -> None:
        """The client has gone: what was still going on ends here."""
        for flow, _ in list(self._open.values()):
            self._tell(flow, "failed", error="the client went away")

    def _asks_for_status(self, flow: HTTPFlow) -> bool:
        caller, line = self._caller, self._caller.reader.line
        asked = caller.tunnel is None and not line.scheme and line.target == STATUS
        return asked and flow.request.method == "GET" and is_own(caller.address)

    async def _admit(self, flow: HTTPFlow, wire: Wire) -> Exchange | Refusal:
        """Decide the request, and have that recorded."""
        door, sandbox, attempt = self._caller.door, self._sandbox(flow), self._attempt(wire)
        place = f"{wire.host} {wire.authority} {wire.sni or ''} {wire.target}"
        if caught := door.caught(self._caller.address, head_of(place, wire.headers)):
            return await door.refuse(caught.of(attempt), caught.refusal)
        if isinstance(sandbox, Deny):
            return await door.refuse(attempt, sandbox)
        decision = self._decide(flow, sandbox, wire)
        if isinstance(decision, Allow):
            return await door.admit(attempt, decision, sandbox)
        return await door.refuse(attempt, decision)

    def _sandbox(self, flow: HTTPFlow) -> SandboxPolicy | Deny:
        """Outside a tunnel each request says whose it is; in one, the tunnel has."""
        caller = self._caller
        if caller.tunnel is not None and caller.sandbox is not None:
            found = caller.door.still(caller.sandbox)
        else:
            credentials = flow.request.headers.get("proxy-authorization")
            found = caller.door.who(caller.address, credentials)
        caller.sandbox = found if isinstance(found, SandboxPolicy) else None
        return found

    def _wire(self, flow: HTTPFlow) -> Wire:
        caller, request, line = self._caller, flow.request, self._caller.reader.line
        tunnel = caller.tunnel
        scheme = line.scheme if tunnel is None else request.scheme
        host, port = (tunnel.host, tunnel.port) if tunnel is not None else ("", 0)
        if tunnel is None:
            host, port = _place(line.authority, scheme)
        return Wire(
            method=request.data.method.decode("latin-1"),
            scheme=scheme,
            host=host,
            port=port,
            target=line.target,
            authority=line.authority,
            version=request.http_version,
            headers=as_text(request.headers.fields),
            tls=bool(tunnel is not None and flow.client_conn.tls),
            sni=flow.client_conn.sni if tunnel is not None else None,
        )

    def _decide(self, flow: HTTPFlow, sandbox: SandboxPolicy, wire: Wire) -> Decision:
        if self._caller.tunnel is None and not wire.scheme:
            return Deny("a proxy is asked with the whole URL", Cause.MALFORMED)
        found = self._caller.door.request(sandbox, wire)
        if isinstance(found, Allow) and flow.error is not None:
            return Deny(flow.error.msg, Cause.MALFORMED)
        return found

    def _attempt(self, wire: Wire) -> Attempt:
        default = DEFAULT_PORTS.get(wire.scheme)
        place = wire.host if wire.port == default else f"{wire.host}:{wire.port}"
        # An absolute form is told as it came: it may name another place than the tunnel.
        place = wire.authority.rpartition("@")[2] or place
        return Attempt(
            kind="http",
            address=self._caller.address,
            method=wire.method,
            url=f"{wire.scheme}://{place}{wire.target}" if wire.scheme else wire.target,
            host=wire.host,
            port=wire.port or None,
            sni=wire.sni,
        )

    def _refuse(self, flow: HTTPFlow, decision: Refusal) -> None:
        """Its body isn't waited for."""
        self._caller.reader.refused = decision
        if flow.error is None:
            flow.kill()  # type: ignore[no-untyped-call]

    def _hand_on(self, flow: HTTPFlow, wire: Wire, exchange: Exchange) -> None:
        """To exactly the place that was judged, in origin form."""
        request, allow = flow.request, exchange.allow
        place = (
            allow.host if wire.port == DEFAULT_PORTS[wire.scheme] else f"{allow.host}:{wire.port}"
        )
        kept = [(n, v) for n, v in sent_on(wire.headers) if n.lower() != "host"]
        fields = [(b"Host", place.encode()), *((_raw(n), _raw(v)) for n, v in kept)]
        if allow.upgrade:
            fields = [one for one in fields if one[0].lower() != b"upgrade"] + list(_UPGRADE)
        request.data.host, request.data.port = allow.host, wire.port
        request.data.scheme, request.data.authority = wire.scheme.encode(), b""
        request.data.path = wire.target.encode("latin-1")
        request.headers = FlowHeaders(fields)
        exchange.heads_out += len(wire.target) + size_of(fields)
        self._caller.moved(exchange, exchange.heads_out)
        self._caller.dialable, self._caller.undialable = allow.networks, ""
        self._open[flow.id] = (flow, exchange)
        if {"content-length", "transfer-encoding"} & {name.lower() for name, _ in kept}:
            request.stream = lambda data: self._sent(exchange, data)

    def _sent(self, exchange: Exchange, data: bytes) -> Iterable[bytes]:
        exchange.sent.add(data)
        self._look(exchange, data, "the body of a request")
        self._caller.moved(exchange, len(data))
        return _unless_cut(exchange, data)

    def _look(self, exchange: Exchange, data: bytes, where: str) -> None:
        """Break off what has a canary in it, and have it told."""
        name = exchange.watched.feed(data) if exchange.watched and not exchange.cut else ""
        if name and exchange.attempt:
            caught = Caught(name, where)
            record = caught.of(exchange.attempt).decided(caught.refusal)
            self._caller.door.recorder.broken_off(record)
            self._caller.break_off(exchange, caught.refusal.reason)

    def _received(self, exchange: Exchange, data: bytes) -> Iterable[bytes]:
        exchange.received.add(data)
        self._caller.from_server.passed_on()
        self._caller.moved(exchange, len(data))
        return _unless_cut(exchange, data)

    def _replace(self, flow: HTTPFlow, exchange: Exchange, reason: str) -> None:
        """Answer with a refusal in the response's place, and read no more of it."""
        answer = refusal(Deny(reason, Cause.CONTENT))
        text = [answer.raw_content or b""]
        exchange.cut = reason

        def instead(_data: bytes) -> Iterable[bytes]:
            given, text[:] = list(text), []
            self._caller.hang_up(flow.server_conn)
            return given

        flow.response = answer
        flow.response.stream = instead

    def _tell(self, flow: HTTPFlow, result: Result, **detail: str) -> None:
        found = self._open.pop(flow.id, None)
        if found is None:
            return
        exchange, target = found[1], address_of(flow.server_conn)
        if self._caller.undialable:
            result, detail = "refused", {"reason": self._caller.undialable}
        outcome = exchange.outcome(result, target, **{k: v for k, v in detail.items() if v})
        self._caller.door.recorder.outcome(outcome.record())


def _unless_cut(exchange: Exchange, data: bytes) -> Iterable[bytes]:
    """No chunk at all where nothing goes on: an empty one would be the end of a chunked body, and what
    was cut off would look whole.
    """
    return [data] if data and not exchange.cut else []


def _place(authority: str, scheme: str) -> tuple[str, int]:
    try:
        return host_and_port(authority, DEFAULT_PORTS.get(scheme, 0))
    except ValueError:  # the judging says what is wrong with it
        host, _, port = authority.rpartition("@")[2].rpartition(":")
        return (host, int(port)) if port.isdecimal() and len(port) <= _DIGITS else (authority, 0)


def _raw(text: str) -> bytes:
    return text.encode("latin-1")
