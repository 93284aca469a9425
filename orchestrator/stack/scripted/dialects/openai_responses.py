"""OpenAI Responses: https://platform.openai.com/docs/api-reference/responses in both directions."""

import itertools
import json
from collections.abc import Iterator, Mapping
from typing import Any

from orchestrator.stack.scripted.answers import Answer, Tokens
from orchestrator.stack.scripted.dialects import (
    Purpose,
    openai_errors,
    responses_input,
    responses_output,
    wire,
)
from orchestrator.stack.scripted.dialects.wire import Piece
from orchestrator.stack.scripted.request import NotUnderstood, Request


class OpenAIResponses:
    """The Responses dialect; see `Dialect` for what each method promises."""

    id_header = "x-request-id"
    paths: Mapping[str, Purpose] = {
        "/v1/responses": "answer",
        "/v1/responses/input_tokens": "count",
    }

    def read(self, body: bytes, path: str) -> Request:  # noqa: ARG002 - others find the model in the path
        try:
            return responses_input.request(json.loads(body), size=len(body))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise NotUnderstood(f"not a Responses request: {error!r}") from error

    def told(self, tokens: Tokens) -> Tokens:
        return tokens

    def whole(self, answer: Answer, asked: Request) -> Mapping[str, Any]:
        return _response(answer, responses_output.items(answer, asked))

    def pieces(self, answer: Answer, asked: Request) -> Iterator[Piece]:
        for number, (kind, data) in enumerate(self._events(answer, asked)):
            name = f"response.{kind}"
            told = {"type": name, "sequence_number": number, **data}
            yield wire.event(told, name, says=responses_output.words_of(kind, data))

    def _events(self, answer: Answer, asked: Request) -> Iterator[tuple[str, dict[str, Any]]]:
        items = responses_output.items(answer, asked)
        yield "created", {"response": _response(answer, None)}
        yield "in_progress", {"response": _response(answer, None)}
        yield from itertools.chain.from_iterable(
            itertools.starmap(responses_output.events, enumerate(items))
        )
        yield "completed", {"response": _response(answer, items)}

    def count(self, tokens: int) -> Mapping[str, Any]:
        return {"object": "response.input_tokens", "input_tokens": tokens}

    def error(
        self,
        status: int,
        message: str,
        retry_after_s: float | None = None,  # noqa: ARG002 - here it is in the header alone
    ) -> Mapping[str, Any]:
        return openai_errors.error(status, message)

    def overflow(self, tokens: int) -> Mapping[str, Any]:
        return openai_errors.overflow(tokens, "input")


def _response(answer: Answer, output: list[dict[str, Any]] | None) -> dict[str, Any]:
    """The response object; without `output` as it is at the beginning."""
    done = output is not None
    return {
        "id": f"resp_{answer.point}",
        "object": "response",
        "created_at": 0,
        "status": "completed" if done else "in_progress",
        "model": answer.model,
        "output": output or [],
        "usage": _usage(answer.tokens) if done else None,
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "metadata": {},
        "parallel_tool_calls": True,
        "temperature": 1.0,
        "tool_choice": "auto",
        "tools": [],
        "top_p": 1.0,
        "store": False,
    }


def _usage(tokens: Tokens) -> dict[str, Any]:
    return {
        "input_tokens": tokens.prompt,
        "input_tokens_details": {
            "cached_tokens": tokens.cache_read,
            "cache_write_tokens": tokens.cache_write,
        },
        "output_tokens": tokens.output,
        "output_tokens_details": {"reasoning_tokens": tokens.reasoning},
        "total_tokens": tokens.prompt + tokens.output,
    }
