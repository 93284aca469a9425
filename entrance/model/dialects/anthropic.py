"""Anthropic's Messages API: what a request asks for, what an answer has used [pure]."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

import orjson

from entrance.answers import error_body
from entrance.decision import Deny
from entrance.model.dialects import Asked, Endpoint
from entrance.model.dialects.anthropic_rules import all_blocks, images, troubles
from entrance.model.dialects.faults import ANTHROPIC
from entrance.model.dialects.reading import (
    count,
    limit,
    model_in,
    part,
    parts,
    request_in,
    usage_in,
)
from entrance.model.dialects.stream import Stream
from entrance.model.dialects.trouble import fault_in
from entrance.model.tokens import Tokens, tokens_in

_NO_TEXT = frozenset({"type", "signature"})
_ENDPOINTS = {
    "/v1/messages": Endpoint("/v1/messages"),
    "/v1/messages/count_tokens": Endpoint("/v1/messages/count_tokens", metered=False),
}


class Anthropic:
    """Implements `Dialect`."""

    query = frozenset({"beta"})
    headers = frozenset({"anthropic-beta", "anthropic-version"})
    faults = ANTHROPIC
    stop = 403
    """Claude Code asks ten times more after a 401, twice more after a 400, never after this."""

    def endpoint(self, path: str) -> Endpoint | None:
        return _ENDPOINTS.get(path)

    def read_request(self, endpoint: Endpoint, raw: bytes) -> Asked | Deny:
        """What goes on is the parsed request written out again: what was judged, key for key.

        Raises: ValueError, TypeError when it is not a request of this dialect.
        """
        del endpoint
        asked = request_in(raw)
        model, blocks = model_in(asked), all_blocks(asked)
        trouble = next(troubles(asked, blocks), "")
        if trouble:
            return Deny(trouble)
        body, pictures = orjson.dumps(asked), images(blocks)
        return Asked(
            model,
            asked.get("stream") is True,
            body,
            max_output=limit(asked, "max_tokens"),
            least_output=count(asked.get("thinking"), "budget_tokens") + 1,
            caches=_caches(body),
            images=len(pictures),
            image_bytes=sum(pictures),
        )

    def capped(self, asked: Asked, max_output: int) -> Asked:
        body = orjson.dumps(orjson.loads(asked.body) | {"max_tokens": max_output})
        return replace(asked, body=body, max_output=max_output)

    def read_answer(self, raw: bytes) -> Tokens | None:
        usage = usage_in(raw, "usage")
        return None if usage is None else _tokens(usage)

    def meter(self, asked: Asked) -> "AnthropicMeter":
        return AnthropicMeter(asked.guess)

    def error(self, status: int, code: str, message: str) -> Mapping[str, Any]:
        return error_body(status, code, message)


class AnthropicMeter(Stream):
    """Implements `StreamMeter`.

    `message_start` has the input's usage and a first word on the output; each `message_delta` has
    totals so far, not additions. Until the last of them comes, output is estimated by its length.
    """

    def __init__(self, guess: Tokens) -> None:
        super().__init__()
        self._usage: dict[str, Any] = {}
        self._told = guess
        self._delta_bytes = 0
        self._final = False

    def end(self, status: int, code: str, message: str) -> bytes:
        """The `error` event with which the API itself ends a stream that fails."""
        return b"event: error\ndata: " + orjson.dumps(error_body(status, code, message)) + b"\n\n"

    @property
    def tokens(self) -> Tokens:
        self.catch_up()
        guess = 0 if self._final else tokens_in(self._delta_bytes)
        return self._told if self._told.output >= guess else replace(self._told, output=guess)

    @property
    def final(self) -> bool:
        self.catch_up()
        return self._final

    def _take(self, event: Mapping[str, Any]) -> None:
        match event.get("type"):
            case "content_block_delta":
                self._delta_bytes += _length(event.get("delta"))
            case "message_start":
                self._add(part(event, "message"))
            case "message_delta":
                self._add(event)
                self._final = "output_tokens" in self._usage
            case "message_stop":
                self._over = True
            case "error":
                self._over, self._fault = True, fault_in(event)
            case _:
                pass

    def _add(self, holder: Mapping[str, Any]) -> None:
        told = part(holder, "usage")
        self._usage |= {key: value for key, value in told.items() if value is not None}
        if self._usage:
            self._told = _tokens(self._usage)


def _caches(body: bytes) -> Literal["no", "yes", "long"]:
    """By the words in a body that we have written: they stand there plainly if they stand there."""
    if b'"cache_control"' not in body:
        return "no"
    return "long" if b'"1h"' in body else "yes"


def _tokens(usage: Mapping[str, Any]) -> Tokens:
    """The totals, with the compactions that the API reports beside them, not in them."""
    beside = [
        _tokens_in(one) for one in parts(usage.get("iterations")) if one.get("type") == "compaction"
    ]
    return sum(beside, start=_tokens_in(usage))


def _tokens_in(usage: Mapping[str, Any]) -> Tokens:
    written = count(usage, "cache_creation_input_tokens")
    hour = min(count(usage.get("cache_creation"), "ephemeral_1h_input_tokens"), written)
    return Tokens(
        input=count(usage, "input_tokens"),
        output=count(usage, "output_tokens"),
        cache_read=count(usage, "cache_read_input_tokens"),
        cache_write=written - hour,
        cache_write_long=hour,
    )


def _length(delta: Any) -> int:
    """The bytes of a delta's text, thinking or JSON, whatever it is called."""
    if not isinstance(delta, dict):
        return 0
    size = 0
    for key, value in delta.items():
        if isinstance(value, str) and key not in _NO_TEXT:
            size += len(value.encode())
    return size
