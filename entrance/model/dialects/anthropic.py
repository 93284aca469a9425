"""Anthropic's Messages API: what a request asks for, what an answer has used [pure]."""

from collections.abc import Mapping
from typing import Any

import orjson

from entrance.answers import error_body
from entrance.decision import Deny
from entrance.model.dialects import Asked, Endpoint
from entrance.model.dialects.anthropic_rules import troubles
from entrance.model.dialects.sse import Events, data_of
from entrance.model.tokens import BYTES_PER_TOKEN, Tokens


class Anthropic:
    """Implements `Dialect`."""

    endpoints: Mapping[str, Endpoint] = {
        "/v1/messages": Endpoint("/v1/messages"),
        "/v1/messages/count_tokens": Endpoint("/v1/messages/count_tokens", metered=False),
    }
    query = frozenset({"beta"})

    def read_request(self, raw: bytes) -> Asked | Deny:
        """What goes on is the parsed request written out again: what was judged, key for key.

        Raises: ValueError when it is not a request of this dialect.
        """
        asked = orjson.loads(raw)
        if not isinstance(asked, dict) or not isinstance(asked.get("model"), str):
            raise TypeError("the body must be an object that names its model")
        trouble = next(troubles(asked), "")
        if trouble:
            return Deny(trouble)
        return Asked(asked["model"], asked.get("stream") is True, orjson.dumps(asked))

    def read_answer(self, raw: bytes) -> Tokens | None:
        """The usage in a whole answer; None when there is none in it."""
        try:
            usage = orjson.loads(raw)["usage"]
        except (orjson.JSONDecodeError, KeyError, TypeError):
            return None
        return _tokens(usage) if isinstance(usage, dict) else None

    def meter(self) -> "AnthropicMeter":
        """A meter for one stream."""
        return AnthropicMeter()

    def stream_error(self, status: int, code: str, message: str) -> bytes:
        """The `error` event with which the API itself ends a stream that fails."""
        return b"event: error\ndata: " + orjson.dumps(error_body(status, code, message)) + b"\n\n"


class AnthropicMeter:
    """Implements `StreamMeter`.

    `message_start` has the input's usage and a first word on the output; each `message_delta` has
    totals so far, not additions. Until the last of them comes, output is estimated by its length.
    """

    def __init__(self) -> None:
        self._events = Events()
        self._usage: dict[str, Any] = {}
        self._delta_bytes = 0
        self.final = False

    def feed(self, chunk: bytes) -> bytes:
        whole = self._events.feed(chunk)
        self._read(whole)
        return whole

    def rest(self) -> bytes:
        left = self._events.rest()
        self._read(left)
        return left

    @property
    def tokens(self) -> Tokens | None:
        if not self._usage:
            return None
        said = _tokens(self._usage)
        guess = 0 if self.final else -(-self._delta_bytes // BYTES_PER_TOKEN)
        return said if said.output >= guess else _tokens({**self._usage, "output_tokens": guess})

    def _read(self, events: bytes) -> None:
        for data in data_of(events):
            try:
                event = orjson.loads(data)
                kind = event["type"]
            except (orjson.JSONDecodeError, KeyError, TypeError):
                continue
            match kind:
                case "content_block_delta":
                    self._delta_bytes += _length(event.get("delta"))
                case "message_start":
                    self._take(event.get("message"))
                case "message_delta":
                    self._take(event)
                    self.final = "output_tokens" in self._usage
                case _:
                    pass

    def _take(self, holder: Any) -> None:
        usage = holder.get("usage") if isinstance(holder, dict) else None
        if isinstance(usage, dict):
            self._usage |= {key: value for key, value in usage.items() if value is not None}


def _tokens(usage: Mapping[str, Any]) -> Tokens:
    """The totals, with the compactions that the API reports beside them, not in them."""
    iterations = usage.get("iterations")
    beside = [
        _tokens_in(one)
        for one in (iterations if isinstance(iterations, list) else ())
        if isinstance(one, dict) and one.get("type") == "compaction"
    ]
    return sum(beside, start=_tokens_in(usage))


def _tokens_in(usage: Mapping[str, Any]) -> Tokens:
    written = _count(usage, "cache_creation_input_tokens")
    split = usage.get("cache_creation")
    hour = _count(split, "ephemeral_1h_input_tokens") if isinstance(split, dict) else 0
    hour = min(hour, written)
    return Tokens(
        input=_count(usage, "input_tokens"),
        output=_count(usage, "output_tokens"),
        cache_read=_count(usage, "cache_read_input_tokens"),
        cache_write_5m=written - hour,
        cache_write_1h=hour,
    )


def _count(usage: Mapping[str, Any], key: str) -> int:
    value = usage.get(key)
    return value if isinstance(value, int) and value > 0 else 0


def _length(delta: Any) -> int:
    """The bytes of a delta's text, thinking or JSON, whatever it is called."""
    if not isinstance(delta, dict):
        return 0
    return sum(
        len(value.encode())
        for key, value in delta.items()
        if isinstance(value, str) and key not in {"type", "signature"}
    )
