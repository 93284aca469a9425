"""The gateway's tools over MCP. A call that may have happened is never repeated."""

import itertools
import json
from collections.abc import Callable, Mapping
from typing import Any

import httpx2

from native import mcp_wire, patience, retry_after
from native.events import Emit
from native.mcp_wire import Attachment, Peer
from native.output import Outcome, Spill
from native.patience import Trouble

LARGEST_ANSWER_BYTES = 64 << 20
_NOT_SENT = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout)
_NOT_DONE = frozenset({429, 502, 503})
"""Answers after which a call surely did not happen."""
_REFUSED = frozenset({401, 403})

Answer = tuple[Mapping[str, Any], Mapping[str, str]]
"""A JSON-RPC message and the headers that it came with."""


class Gateway:
    """One MCP server, spoken to in the era that it knows."""

    def __init__(self, url: str, client: httpx2.Client, emit: Emit, spill: Spill) -> None:
        self._url = url
        self._client = client
        self._emit = emit
        self._spill = spill
        self._numbers = itertools.count(1)
        self.peer = Peer()

    def connect(self) -> list[Mapping[str, Any]]:
        """Find the era and list the tools, waiting for the entrance if it is away.

        Raises:
            Trouble: it refuses, or stayed away.
        """
        self.peer = self._patiently(self._discovered) or self._patiently(self._shaken_hands)
        tools: list[Mapping[str, Any]] = []
        cursor: dict[str, Any] = {}
        while True:
            page = self._patiently(lambda cursor=cursor: self._result("tools/list", cursor))  # type: ignore[misc]
            tools += page.get("tools", ())
            if not page.get("nextCursor"):
                return tools
            cursor = {"cursor": page["nextCursor"]}

    def call(self, name: str, arguments: Mapping[str, Any]) -> Outcome:
        """Call a tool. Whatever the answer is, it is the model's to read.

        Raises:
            Trouble: the entrance stayed away; the call did not happen.
        """
        params = {"name": name, "arguments": arguments}
        try:
            message, _ = self._patiently(lambda: self._ask(self.peer, "tools/call", params))
        except httpx2.HTTPError as error:
            return _may_have_happened(type(error).__name__)
        except Trouble as trouble:
            if trouble.kind != "final":
                raise
            return Outcome(f"The gateway answered {trouble}", is_error=True)
        except ValueError as error:
            return _may_have_happened(f"the answer can't be read, {error}")
        if "error" in message:
            return Outcome(str(message["error"].get("message", message["error"])), is_error=True)
        return self._outcome(message["result"], name)

    def _outcome(self, result: Mapping[str, Any], name: str) -> Outcome:
        parts = [
            self._kept(part) if isinstance(part, Attachment) else part
            for part in mcp_wire.content(result)
        ]
        text = self._spill.bounded("\n".join(parts), f"{name}.txt")
        return Outcome(text or "(empty result)", is_error=bool(result.get("isError")))

    def _kept(self, part: Attachment) -> str:
        where = self._spill.keep(part.data, part.kind)
        return f"[{part.kind}, {part.mime_type}, {len(part.data)} bytes: {where}]"

    def _patiently(self, attempt: Callable[[], Any]) -> Any:
        return patience.persist(attempt, self._emit)

    def _discovered(self) -> Peer | None:
        """The server as of the modern era, or None: any refusal may just mean that it is older."""
        try:
            message, _ = self._reading(Peer(), "server/discover", {})
        except Trouble as trouble:
            if trouble.kind == "final" and trouble.status not in _REFUSED:
                return None
            raise
        found = message.get("result", {})
        if mcp_wire.MODERN not in found.get("supportedVersions", ()):
            return None
        return Peer(instructions=found.get("instructions") or "")

    def _shaken_hands(self) -> Peer:
        params = {
            "protocolVersion": mcp_wire.HANDSHAKE,
            "capabilities": {},
            "clientInfo": mcp_wire.CLIENT,
        }
        message, headers = self._reading(Peer(mcp_wire.HANDSHAKE), "initialize", params)
        if "result" not in message:
            raise Trouble(f"{self._url} refuses to initialize: {json.dumps(message.get('error'))}")
        found = message["result"]
        peer = Peer(
            found["protocolVersion"], headers.get("mcp-session-id"), found.get("instructions") or ""
        )
        self._post(peer, "notifications/initialized", {}, number=None)
        return peer

    def _result(self, method: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
        message, _ = self._reading(self.peer, method, params)
        if "result" not in message:
            raise Trouble(f"{method} was refused: {json.dumps(message.get('error'))}")
        result: Mapping[str, Any] = message["result"]
        return result

    def _reading(self, peer: Peer, method: str, params: Mapping[str, Any]) -> Answer:
        """A request that changes nothing: whatever breaks, it may be tried again."""
        try:
            return self._ask(peer, method, params)
        except httpx2.HTTPError as error:
            raise Trouble(f"{method}: {_named(error)}", "away") from error
        except ValueError as error:
            raise Trouble(f"{method}: the answer can't be read: {error}") from error

    def _ask(self, peer: Peer, method: str, params: Mapping[str, Any]) -> Answer:
        """Send once.

        Raises:
            Trouble: away or busy if it surely did not happen; final for what was refused.
            httpx2.HTTPError: the connection broke on the way.
            ValueError: the answer is no reply.
        """
        number = next(self._numbers)
        response, body = self._post(peer, method, params, number)
        if response.status_code in _NOT_DONE or not body:
            raise _trouble(response, body)
        try:
            message = mcp_wire.reply(response.headers.get("content-type", ""), body, number)
        except ValueError:
            if response.is_success:
                raise
            raise _trouble(response, body) from None
        return message, response.headers

    def _post(
        self, peer: Peer, method: str, params: Mapping[str, Any], number: int | None
    ) -> tuple[httpx2.Response, bytes]:
        headers = mcp_wire.headers(peer, method, params)
        sent = mcp_wire.request(peer, number, method, params)
        try:
            with self._client.stream("POST", self._url, headers=headers, json=sent) as response:
                body = bytearray()
                for chunk in response.iter_bytes():
                    body += chunk
                    if len(body) > LARGEST_ANSWER_BYTES:
                        raise ValueError(f"it is larger than {LARGEST_ANSWER_BYTES >> 20} MB")
                return response, bytes(body)
        except _NOT_SENT as error:
            raise Trouble(f"{method}: {_named(error)}", "away") from error


def _trouble(response: httpx2.Response, body: bytes) -> Trouble:
    """What a refused request stands for; only what surely did not happen may be tried again."""
    try:
        message = json.loads(body)["error"]["message"]
    except (ValueError, KeyError, TypeError):
        message = body[:500].decode("utf-8", "replace").strip() or response.reason_phrase
    status = response.status_code
    wait_s = retry_after.seconds(response.headers)
    trouble = patience.of_status(status, message, retry_after_s=wait_s)
    return trouble if status in _NOT_DONE else Trouble(str(trouble), status=status)


def _may_have_happened(reason: str) -> Outcome:
    text = (
        f"The connection broke during the call ({reason})."
        " It may have happened: look before you repeat it."
    )
    return Outcome(text, is_error=True)


def _named(error: Exception) -> str:
    return f"{type(error).__name__} {error}".strip()
