"""Asks the model through the entrance, which swaps the run token for the real key."""

import gc
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx2

from native import patience
from native.patience import Trouble

with_collector = gc.isenabled()
gc.disable()  # a fifth of the import's time is the collector looking at classes that stay
import anthropic  # noqa: E402 - after the collector is off

if with_collector:
    gc.enable()

TIMEOUT = httpx2.Timeout(300.0, connect=10.0, pool=10.0)
_STATUS_OF_TYPE: Mapping[str, int] = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "overloaded_error": 529,
}
"""For errors in the middle of a stream, whose HTTP status was 200."""
_CACHED = {"cache_control": {"type": "ephemeral"}}


@dataclass(frozen=True)
class Usage:
    """Tokens of one answer."""

    input_tokens: int
    output_tokens: int
    cache_read_tokens: int
    cache_write_tokens: int

    @property
    def total(self) -> int:
        """How much of the model's window the conversation takes now."""
        return sum(
            (self.input_tokens, self.output_tokens, self.cache_read_tokens, self.cache_write_tokens)
        )


@dataclass(frozen=True)
class Answer:
    """One answer: content blocks as they go back into the conversation."""

    blocks: list[dict[str, Any]]
    stop_reason: str
    usage: Usage


class Model:
    """One model behind one entrance."""

    def __init__(self, base_url: str, token: str, name: str, *, max_tokens: int) -> None:
        self._name = name
        self._max_tokens = max_tokens
        self._client = anthropic.Anthropic(
            base_url=base_url,
            auth_token=token,
            max_retries=0,  # `patience` decides, and says so
            http_client=httpx2.Client(timeout=TIMEOUT, trust_env=False),
        )

    def close(self) -> None:
        """Let the connections go."""
        self._client.close()

    def ask(
        self, system: str, messages: Sequence[dict[str, Any]], tools: Sequence[dict[str, Any]]
    ) -> Answer:
        """Ask once, streamed.

        Raises:
            Trouble: it did not answer, or not to the end.
        """
        with (
            _translated(),
            self._client.messages.stream(
                model=self._name,
                max_tokens=self._max_tokens,
                messages=_cached(messages),  # type: ignore[arg-type]
                tools=list(tools),  # type: ignore[arg-type]
                system=[{"type": "text", "text": system, "cache_control": {"type": "ephemeral"}}],
            ) as stream,
        ):
            message = stream.get_final_message()
        if message.stop_reason is None:
            raise Trouble("the answer ended early", "away")
        return Answer(
            [_block(block) for block in message.content], message.stop_reason, _usage(message.usage)
        )


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except anthropic.APIStatusError as error:
        raise _of_status(error) from error
    except (anthropic.APIError, httpx2.HTTPError) as error:
        reason = f"{type(error).__name__}: {error.__cause__ or error}"
        raise Trouble(f"the model can't be reached: {reason}", "away") from error
    except ValueError as error:  # arguments of a tool call that are no JSON
        raise Trouble(f"the answer can't be read: {error}", "busy") from error


def _of_status(error: anthropic.APIStatusError) -> Trouble:
    inner = error.body.get("error", error.body) if isinstance(error.body, dict) else {}
    inner = inner if isinstance(inner, dict) else {}
    status = error.status_code
    if status < 400:  # noqa: PLR2004 - the stream had begun well
        status = _STATUS_OF_TYPE.get(str(inner.get("type")), 500)
    message = str(inner.get("message") or error.message)
    return patience.of_status(status, message, error.response.headers.get("retry-after"))


def _cached(messages: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The messages with the provider's cache told to reach up to the last one."""
    last = messages[-1]
    *before, block = last["content"]
    return [*messages[:-1], {**last, "content": [*before, {**block, **_CACHED}]}]


def _block(block: Any) -> dict[str, Any]:
    if block.type == "text":
        return {"type": "text", "text": block.text}
    if block.type == "tool_use":
        given = json.loads(block.input) if isinstance(block.input, str) else block.input
        return {"type": "tool_use", "id": block.id, "name": block.name, "input": given}
    whole: dict[str, Any] = block.to_dict()
    return whole


def _usage(usage: anthropic.types.Usage) -> Usage:
    return Usage(
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cache_read_tokens=usage.cache_read_input_tokens or 0,
        cache_write_tokens=usage.cache_creation_input_tokens or 0,
    )
