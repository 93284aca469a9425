"""OpenAI's Chat Completions API: what a request asks for, what an answer has used [pure].

A stream tells its usage only when it is asked to, so it always is. A client that did not ask gets
the stream that it would have got: the chunk that has nothing but the usage is kept from it.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import orjson

from entrance.decision import Deny
from entrance.model.dialects import Asked, Endpoint
from entrance.model.dialects.chat_rules import pictures, troubles
from entrance.model.dialects.faults import OPENAI
from entrance.model.dialects.openai import caches, error_object, tokens
from entrance.model.dialects.reading import (
    count,
    limit,
    model_in,
    object_in,
    part,
    parts,
    request_in,
    usage_in,
)
from entrance.model.dialects.sse import data_of, each
from entrance.model.dialects.stream import Stream
from entrance.model.dialects.trouble import fault_in
from entrance.model.tokens import Tokens, tokens_in

PATH = "/v1/chat/completions"
_LIMITS = ("max_completion_tokens", "max_tokens")
_USAGE = re.compile(rb'"usage"\s*:\s*\{')
_NAMES = frozenset({"id", "role", "type", "name"})


class ChatCompletions:
    """Implements `Dialect`."""

    query: frozenset[str] = frozenset()
    headers: frozenset[str] = frozenset()
    faults = OPENAI
    stop = 403

    def endpoint(self, path: str) -> Endpoint | None:
        return Endpoint(PATH) if path == PATH else None

    def read_request(self, endpoint: Endpoint, raw: bytes) -> Asked | Deny:
        """What goes on is what was judged, with `store` off and a stream's usage on.

        Raises: ValueError, TypeError when it is not a request of this dialect.
        """
        del endpoint
        asked = request_in(raw)
        model = model_in(asked)
        trouble = next(troubles(asked), "")
        if trouble:
            return Deny(trouble)
        streams, options = asked.get("stream") is True, part(asked, "stream_options")
        sent = asked | {"store": False}
        if streams:
            sent["stream_options"] = {**options, "include_usage": True}
        body, images = orjson.dumps(sent), pictures(asked)
        limits = [told for name in _LIMITS if (told := limit(asked, name)) is not None]
        return Asked(
            model,
            streams,
            body,
            max_output=max(limits, default=None),
            caches=caches(body),
            images=len(images),
            image_bytes=sum(images),
            keeps_usage=streams and options.get("include_usage") is not True,
        )

    def capped(self, asked: Asked, max_output: int) -> Asked:
        """Under the name that the request used, as not every server knows both."""
        sent = orjson.loads(asked.body)
        names = [name for name in _LIMITS if sent.get(name) is not None] or [_LIMITS[0]]
        body = orjson.dumps(sent | dict.fromkeys(names, max_output))
        return replace(asked, body=body, max_output=max_output)

    def read_answer(self, raw: bytes) -> Tokens | None:
        usage = usage_in(raw, "usage")
        return None if usage is None else _tokens(usage)

    def meter(self, asked: Asked) -> "ChatMeter":
        return ChatMeter(asked)

    def error(self, status: int, code: str, message: str) -> Mapping[str, Any]:
        return {"error": error_object(status, code, message)}


class ChatMeter(Stream):
    """Implements `StreamMeter`. Usage is told once, in the last chunk but `[DONE]`."""

    def __init__(self, asked: Asked) -> None:
        super().__init__()
        self._guess = asked.guess
        self._keeps_usage = asked.keeps_usage
        self._told: Tokens | None = None
        self._bytes = 0

    def feed(self, chunk: bytes) -> bytes:
        return self._shown(super().feed(chunk))

    def rest(self) -> bytes:
        return self._shown(super().rest())

    def _shown(self, events: bytes) -> bytes:
        """What the client would get if nobody had asked for the usage."""
        if not self._keeps_usage or not _USAGE.search(events):
            return events
        return b"".join(event for event in each(events) if not _is_only_usage(event))

    def end(self, status: int, code: str, message: str) -> bytes:
        """A chunk with an error, which clients raise, and the mark that ends every stream."""
        error = orjson.dumps({"error": error_object(status, code, message)})
        return b"data: " + error + b"\n\ndata: [DONE]\n\n"

    @property
    def tokens(self) -> Tokens:
        self.catch_up()
        return self._told or replace(self._guess, output=tokens_in(self._bytes))

    @property
    def final(self) -> bool:
        self.catch_up()
        return self._told is not None

    def _take(self, event: Mapping[str, Any]) -> None:
        choices = event.get("choices")
        for choice in parts(choices):
            self._bytes += _length(choice.get("delta"))
            self._over = self._over or bool(choice.get("finish_reason"))
        usage = part(event, "usage")
        if usage:
            self._over, self._told = True, _tokens(usage)
        if event.get("error"):
            self._over, self._fault = True, fault_in(event)


def _is_only_usage(event: bytes) -> bool:
    """Whether there is nothing in an event but the usage."""
    told = (object_in(data) or {} for data in data_of(event))
    return any(part(chunk, "usage") and chunk.get("choices") == [] for chunk in told)


def _tokens(usage: Mapping[str, Any]) -> Tokens:
    return tokens(
        count(usage, "prompt_tokens"),
        count(usage, "completion_tokens"),
        part(usage, "prompt_tokens_details"),
    )


def _length(delta: Any) -> int:
    """The bytes of a delta's texts and arguments, however deep and whatever they are called."""
    match delta:
        case str():
            return len(delta.encode("utf-8", "surrogatepass"))
        case dict():
            return sum(_length(value) for key, value in delta.items() if key not in _NAMES)
        case list():
            return sum(_length(item) for item in delta)
        case _:
            return 0
