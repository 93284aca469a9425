"""Google's Gemini API: what a request asks for, what an answer has used [pure].

The path names the model and what is wanted of it. Streams are server-sent events only; the other
kind, one long JSON array, is asked for by no client that we know.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import orjson

from entrance.decision import Deny
from entrance.model.dialects import Asked, Endpoint
from entrance.model.dialects.faults import GEMINI
from entrance.model.dialects.gemini_rules import all_parts, pictures, plain_names, troubles
from entrance.model.dialects.reading import count, limit, part, parts, request_in, usage_in
from entrance.model.dialects.stream import Stream
from entrance.model.dialects.trouble import fault_in
from entrance.model.tokens import Tokens, tokens_in

_PATH = re.compile(
    r"/v1(?:beta)?/models/([A-Za-z0-9][A-Za-z0-9._-]*):"
    r"(generateContent|streamGenerateContent|countTokens)"
)
_STATUSES: Mapping[int, str] = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    502: "UNAVAILABLE",
    503: "UNAVAILABLE",
}


class Gemini:
    """Implements `Dialect`."""

    query = frozenset({"alt"})
    headers: frozenset[str] = frozenset()
    faults = GEMINI
    stop = 403

    def endpoint(self, path: str) -> Endpoint | None:
        found = _PATH.fullmatch(path)
        if found is None:
            return None
        streams = found[2] == "streamGenerateContent"
        return Endpoint(
            path,
            metered=found[2] != "countTokens",
            model=found[1],
            streams=streams,
            query={"alt": "sse"} if streams else {},
        )

    def read_request(self, endpoint: Endpoint, raw: bytes) -> Asked | Deny:
        """What goes on is what was judged, names in one spelling.

        Raises: ValueError, TypeError when it is not a request of this dialect.
        """
        asked = plain_names(request_in(raw))
        pieces = all_parts(asked)
        trouble = next(troubles(asked, pieces), "")
        if trouble:
            return Deny(trouble)
        images = pictures(pieces)
        return Asked(
            endpoint.model,
            endpoint.streams,
            orjson.dumps(asked),
            max_output=limit(part(asked, "generationConfig"), "maxOutputTokens"),
            images=len(images),
            image_bytes=sum(images),
        )

    def capped(self, asked: Asked, max_output: int) -> Asked:
        sent = orjson.loads(asked.body)
        config = {**part(sent, "generationConfig"), "maxOutputTokens": max_output}
        return replace(
            asked, body=orjson.dumps({**sent, "generationConfig": config}), max_output=max_output
        )

    def read_answer(self, raw: bytes) -> Tokens | None:
        usage = usage_in(raw, "usageMetadata")
        return None if usage is None else _tokens(usage)

    def meter(self, asked: Asked) -> "GeminiMeter":
        return GeminiMeter(asked)

    def error(self, status: int, code: str, message: str) -> Mapping[str, Any]:
        return _error(status, code, message)


class GeminiMeter(Stream):
    """Implements `StreamMeter`.

    Each chunk has totals so far; the last word is the one with the reason for which it ended. What
    was said counts at least by its length: not every chunk's totals have all of it.
    """

    def __init__(self, asked: Asked) -> None:
        super().__init__()
        self._told = asked.guess
        self._bytes = 0
        self._final = False

    def end(self, status: int, code: str, message: str) -> bytes:
        """A chunk that is an error: what the API itself sends when it fails while it streams."""
        return b"data: " + orjson.dumps(_error(status, code, message)) + b"\r\n\r\n"

    @property
    def tokens(self) -> Tokens:
        self.catch_up()
        guess = 0 if self._final else tokens_in(self._bytes)
        return self._told if self._told.output >= guess else replace(self._told, output=guess)

    @property
    def final(self) -> bool:
        self.catch_up()
        return self._final

    def _take(self, event: Mapping[str, Any]) -> None:
        usage = part(event, "usageMetadata")
        if usage:
            self._told = _tokens(usage)
        candidates = parts(event.get("candidates"))
        for candidate in candidates:
            self._bytes += sum(map(_length, parts(part(candidate, "content").get("parts"))))
        ended = any(candidate.get("finishReason") for candidate in candidates)
        if ended or part(event, "promptFeedback").get("blockReason"):
            self._over, self._final = True, self._final or bool(usage)
        if event.get("error"):
            self._over, self._fault = True, fault_in(event)


def _tokens(usage: Mapping[str, Any]) -> Tokens:
    """The prompt's count has what was cached in it; the answer's has not what was thought."""
    prompt = count(usage, "promptTokenCount") + count(usage, "toolUsePromptTokenCount")
    read = min(count(usage, "cachedContentTokenCount"), prompt)
    output = count(usage, "candidatesTokenCount") + count(usage, "thoughtsTokenCount")
    return Tokens(input=prompt - read, output=output, cache_read=read)


def _length(piece: Mapping[str, Any]) -> int:
    """The bytes of a part's text or call."""
    text, call = piece.get("text"), piece.get("functionCall")
    said = len(text.encode("utf-8", "surrogatepass")) if isinstance(text, str) else 0
    return said + (len(orjson.dumps(call)) if isinstance(call, dict) else 0)


def _error(status: int, code: str, message: str) -> dict[str, Any]:
    name = _STATUSES.get(status, "UNKNOWN")
    details = [{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": code}]
    return {"error": {"code": status, "message": message, "status": name, "details": details}}
