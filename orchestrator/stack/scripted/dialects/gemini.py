"""Gemini generateContent: https://ai.google.dev/api/generate-content in both directions."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from orchestrator.stack.scripted.answers import Answer, Tokens
from orchestrator.stack.scripted.dialects import Purpose, gemini_contents, wire
from orchestrator.stack.scripted.dialects.wire import Piece
from orchestrator.stack.scripted.request import NotUnderstood, Request

_STATUSES: Mapping[int, str] = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}
_MODEL = "/{version:v1|v1beta}/models/{model}"
_PATH = re.compile(r"/models/([^:?]+):(\w+)(?:\?(.*))?\Z")
_LINE_END = "\r\n"


class Gemini:
    """The generateContent dialect; see `Dialect` for what each method promises."""

    id_header = "x-request-id"
    paths: Mapping[str, Purpose] = {
        f"{_MODEL}:generateContent": "answer",
        f"{_MODEL}:streamGenerateContent": "answer",
        f"{_MODEL}:countTokens": "count",
    }

    def read(self, body: bytes, path: str) -> Request:
        try:
            model, stream = _asked_in(path)
            data = json.loads(body)
            return gemini_contents.request(data, model=model, stream=stream, size=len(body))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise NotUnderstood(f"not a generateContent request: {error!r}") from error

    def told(self, tokens: Tokens) -> Tokens:
        """Writing to the cache is a call of its own there."""
        return replace(tokens, input=tokens.input + tokens.cache_write, cache_write=0)

    def whole(self, answer: Answer, asked: Request) -> Mapping[str, Any]:  # noqa: ARG002 - others look at it
        words: list[dict[str, Any]] = [{"text": answer.text}] if answer.text else []
        return _response(answer, [*words, *_call_parts(answer)], last=True)

    def pieces(self, answer: Answer, asked: Request) -> Iterator[Piece]:  # noqa: ARG002 - as above
        """Calls come whole. Every chunk says what was used so far; only the last one's is all."""
        for word in wire.words(answer.text):
            chunk = _response(answer, [{"text": word}], last=False)
            yield wire.event(chunk, says=word, end=_LINE_END)
        for part in _call_parts(answer):
            chunk = _response(answer, [part], last=False)
            yield wire.event(chunk, says=json.dumps(part["functionCall"]["args"]), end=_LINE_END)
        yield wire.event(_response(answer, [{"text": ""}], last=True), end=_LINE_END)

    def count(self, tokens: int) -> Mapping[str, Any]:
        return {"totalTokens": tokens}

    def error(
        self, status: int, message: str, retry_after_s: float | None = None
    ) -> Mapping[str, Any]:
        name = _STATUSES.get(status, "UNKNOWN")
        error: dict[str, Any] = {"code": status, "message": message, "status": name}
        if retry_after_s is not None:
            kind = "type.googleapis.com/google.rpc.RetryInfo"
            error["details"] = [{"@type": kind, "retryDelay": f"{retry_after_s:g}s"}]
        return {"error": error}

    def overflow(self, tokens: int) -> Mapping[str, Any]:
        message = (
            f"The input token count ({tokens}) exceeds the maximum number of tokens allowed"
            f" ({tokens - 1})."
        )
        return self.error(400, message)


def _asked_in(path: str) -> tuple[str, bool]:
    """The model, and whether to stream: here the path says both."""
    found = _PATH.search(path)
    if found is None:
        raise ValueError(f"{path} names no model and method")
    stream = found[2] == "streamGenerateContent"
    if stream and "alt=sse" not in (found[3] or "").split("&"):
        raise ValueError("only server-sent events are streamed here: add ?alt=sse")
    return found[1], stream


def _call_parts(answer: Answer) -> Iterator[dict[str, Any]]:
    """The calls; the first carries the signature of the thoughts that led to them, if there were any."""
    for number, call in enumerate(answer.calls):
        part: dict[str, Any] = {
            "functionCall": {"id": call.id, "name": call.name, "args": call.arguments}
        }
        if answer.tokens.reasoning and number == 0:
            part["thoughtSignature"] = "c2NyaXB0ZWQ="
        yield part


def _response(answer: Answer, parts: list[dict[str, Any]], *, last: bool) -> dict[str, Any]:
    candidate: dict[str, Any] = {"content": {"role": "model", "parts": parts}, "index": 0}
    if last:
        candidate["finishReason"] = "STOP"
    return {
        "candidates": [candidate],
        "usageMetadata": _usage(answer.tokens, last=last),
        "modelVersion": answer.model,
        "responseId": answer.point,
    }


def _usage(tokens: Tokens, *, last: bool) -> dict[str, int]:
    spoken = tokens.output - tokens.reasoning if last else 1
    usage = {
        "promptTokenCount": tokens.prompt,
        "candidatesTokenCount": spoken,
        "totalTokenCount": tokens.prompt + spoken + tokens.reasoning,
    }
    if tokens.cache_read:
        usage["cachedContentTokenCount"] = tokens.cache_read
    if tokens.reasoning:
        usage["thoughtsTokenCount"] = tokens.reasoning
    return usage
