"""OpenAI Chat Completions: https://platform.openai.com/docs/api-reference/chat in both directions."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from orchestrator.stack.scripted.answers import Answer, Tokens, ToolCall
from orchestrator.stack.scripted.dialects import Purpose, chat_messages, openai_errors, wire
from orchestrator.stack.scripted.dialects.wire import Piece
from orchestrator.stack.scripted.request import NotUnderstood, Request


class OpenAIChat:
    """The Chat Completions dialect; see `Dialect` for what each method promises."""

    id_header = "x-request-id"
    paths: Mapping[str, Purpose] = {"/v1/chat/completions": "answer"}

    def read(self, body: bytes, path: str) -> Request:  # noqa: ARG002 - others find the model in the path
        try:
            return chat_messages.request(json.loads(body), size=len(body))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise NotUnderstood(f"not a Chat Completions request: {error!r}") from error

    def told(self, tokens: Tokens) -> Tokens:
        return tokens

    def whole(self, answer: Answer, asked: Request) -> Mapping[str, Any]:  # noqa: ARG002 - others look at it
        message: dict[str, Any] = {
            "role": "assistant",
            "content": answer.text or None,
            "refusal": None,
        }
        if answer.calls:
            message["tool_calls"] = [
                {**_begun(call), "function": {"name": call.name, "arguments": _arguments(call)}}
                for call in answer.calls
            ]
        choice = {"index": 0, "message": message, "finish_reason": _reason(answer)}
        return {
            **_envelope(answer, "chat.completion"),
            "choices": [{**choice, "logprobs": None}],
            "usage": _usage(answer.tokens),
        }

    def pieces(self, answer: Answer, asked: Request) -> Iterator[Piece]:
        """With `include_usage` the last chunk has no choice but the usage, as the others have null."""
        envelope = _envelope(answer, "chat.completion.chunk")
        no_usage: dict[str, Any] = {"usage": None} if asked.wants_usage else {}
        for delta, reason in _deltas(answer):
            choice = {"index": 0, "delta": delta, "finish_reason": reason, "logprobs": None}
            chunk = {**envelope, "choices": [choice], **no_usage}
            yield wire.event(chunk, says=_words_of(delta))
        if asked.wants_usage:
            yield wire.event({**envelope, "choices": [], "usage": _usage(answer.tokens)})
        yield Piece(b"data: [DONE]\n\n")

    def count(self, tokens: int) -> Mapping[str, Any]:
        return {"total_tokens": tokens}

    def error(
        self,
        status: int,
        message: str,
        retry_after_s: float | None = None,  # noqa: ARG002 - here it is in the header alone
    ) -> Mapping[str, Any]:
        return openai_errors.error(status, message)

    def overflow(self, tokens: int) -> Mapping[str, Any]:
        return openai_errors.overflow(tokens, "messages")


def _envelope(answer: Answer, kind: str) -> dict[str, Any]:
    return {
        "id": f"chatcmpl-{answer.point}",
        "object": kind,
        "created": 0,
        "model": answer.model,
        "service_tier": "default",
        "system_fingerprint": "fp_scripted",
    }


def _deltas(answer: Answer) -> Iterator[tuple[dict[str, Any], str | None]]:
    """What each chunk adds, and the last one's reason to end."""
    yield {"role": "assistant", "content": "" if answer.text else None, "refusal": None}, None
    for word in wire.words(answer.text):
        yield {"content": word}, None
    for index, call in enumerate(answer.calls):
        begun = {"index": index, **_begun(call), "function": {"name": call.name, "arguments": ""}}
        yield {"tool_calls": [begun]}, None
        for part in wire.slices(_arguments(call)):
            yield {"tool_calls": [{"index": index, "function": {"arguments": part}}]}, None
    yield {}, _reason(answer)


def _words_of(delta: Mapping[str, Any]) -> str:
    calls = delta.get("tool_calls") or ()
    return (delta.get("content") or "") + "".join(call["function"]["arguments"] for call in calls)


def _begun(call: ToolCall) -> dict[str, Any]:
    return {"id": f"call_{call.id}", "type": "function"}


def _arguments(call: ToolCall) -> str:
    return json.dumps(call.arguments)


def _reason(answer: Answer) -> str:
    return "tool_calls" if answer.calls else "stop"


def _usage(tokens: Tokens) -> dict[str, Any]:
    return {
        "prompt_tokens": tokens.prompt,
        "completion_tokens": tokens.output,
        "total_tokens": tokens.prompt + tokens.output,
        "prompt_tokens_details": {
            "cached_tokens": tokens.cache_read,
            "cache_write_tokens": tokens.cache_write,
            "audio_tokens": 0,
        },
        "completion_tokens_details": {
            "reasoning_tokens": tokens.reasoning,
            "audio_tokens": 0,
            "accepted_prediction_tokens": 0,
            "rejected_prediction_tokens": 0,
        },
    }
