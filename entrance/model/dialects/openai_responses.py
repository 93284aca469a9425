"""OpenAI's Responses API: what a request asks for, what an answer has used [pure]."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import orjson

from entrance.decision import Deny
from entrance.model.dialects import Asked, Endpoint
from entrance.model.dialects.faults import OPENAI
from entrance.model.dialects.openai import BUDGET, caches, error_object, tokens
from entrance.model.dialects.reading import count, limit, model_in, part, request_in, usage_in
from entrance.model.dialects.responses_rules import pictures, troubles
from entrance.model.dialects.stream import Stream
from entrance.model.dialects.trouble import fault_in
from entrance.model.tokens import Tokens, tokens_in

PATH = "/v1/responses"
LEAST_OUTPUT = 16
"""The API takes no lower limit."""
_FAILS = frozenset({"response.failed", "error"})
_ENDS = _FAILS | {"response.completed", "response.incomplete"}
_BLANK: Mapping[str, Any] = {
    "id": "resp_cut",
    "object": "response",
    "created_at": 0,
    "output": [],
    "parallel_tool_calls": True,
    "tool_choice": "auto",
    "tools": [],
}
"""What a response must have, for one that ends before the provider has said anything."""


class Responses:
    """Implements `Dialect`."""

    query: frozenset[str] = frozenset()
    headers: frozenset[str] = frozenset()
    faults = OPENAI
    stop = 400
    """Codex tries again after any other status that is no success, 402 and 403 included."""

    def endpoint(self, path: str) -> Endpoint | None:
        return Endpoint(PATH) if path == PATH else None

    def read_request(self, endpoint: Endpoint, raw: bytes) -> Asked | Deny:
        """What goes on is what was judged, with `store` off: left out, it would be on.

        Raises: ValueError, TypeError when it is not a request of this dialect.
        """
        del endpoint
        asked = request_in(raw)
        model = model_in(asked)
        trouble = next(troubles(asked), "")
        if trouble:
            return Deny(trouble)
        body, images = orjson.dumps(asked | {"store": False}), pictures(asked)
        return Asked(
            model,
            asked.get("stream") is True,
            body,
            max_output=limit(asked, "max_output_tokens"),
            least_output=LEAST_OUTPUT,
            caches=caches(body),
            images=len(images),
            image_bytes=sum(images),
        )

    def capped(self, asked: Asked, max_output: int) -> Asked:
        body = orjson.dumps(orjson.loads(asked.body) | {"max_output_tokens": max_output})
        return replace(asked, body=body, max_output=max_output)

    def read_answer(self, raw: bytes) -> Tokens | None:
        usage = usage_in(raw, "usage")
        return None if usage is None else _tokens(usage)

    def meter(self, asked: Asked) -> "ResponsesMeter":
        return ResponsesMeter(asked)

    def error(self, status: int, code: str, message: str) -> Mapping[str, Any]:
        return {"error": error_object(status, code, message)}


class ResponsesMeter(Stream):
    """Implements `StreamMeter`.

    Usage is told once, in the last event. Until then the prompt is a guess, and the answer goes by
    its length; of reasoning, which is not streamed, only what is handed over sealed can be seen.
    """

    def __init__(self, asked: Asked) -> None:
        super().__init__()
        self._guess = asked.guess
        self._told: Tokens | None = None
        self._bytes = 0
        self._sequence = 0
        self._response: Mapping[str, Any] = {**_BLANK, "model": asked.model}

    def end(self, status: int, code: str, message: str) -> bytes:
        """The `response.failed` event with which the API itself ends a response that fails."""
        del status
        self.catch_up()
        failure = {"code": BUDGET if code == "budget" else "server_error", "message": message}
        event = {
            "type": "response.failed",
            "sequence_number": self._sequence + 1,
            "response": {**self._response, "status": "failed", "error": failure, "usage": None},
        }
        return b"event: response.failed\ndata: " + orjson.dumps(event) + b"\n\n"

    @property
    def tokens(self) -> Tokens:
        self.catch_up()
        return self._told or replace(self._guess, output=tokens_in(self._bytes))

    @property
    def final(self) -> bool:
        self.catch_up()
        return self._told is not None

    def _take(self, event: Mapping[str, Any]) -> None:
        self._sequence = max(self._sequence, count(event, "sequence_number"))
        match event.get("type"):
            case "response.created":
                self._response = {**self._response, **part(event, "response")}
            case "response.output_item.done":
                self._bytes += _length(part(event, "item").get("encrypted_content"))
            case str() as kind if kind in _ENDS:
                self._end(event, kind)
            case str() as kind if kind.endswith(".delta"):
                self._bytes += _length(event.get("delta"))
            case _:
                pass

    def _end(self, event: Mapping[str, Any], kind: str) -> None:
        self._over = True
        usage = part(event, "response").get("usage")
        if isinstance(usage, dict):
            self._told = _tokens(usage)
        if kind in _FAILS:
            self._fault = fault_in(event)


def _tokens(usage: Mapping[str, Any]) -> Tokens:
    return tokens(
        count(usage, "input_tokens"),
        count(usage, "output_tokens"),
        part(usage, "input_tokens_details"),
    )


def _length(text: Any) -> int:
    return len(text.encode("utf-8", "surrogatepass")) if isinstance(text, str) else 0
