"""What a Chat Completions request may not ask for, so that the provider is no second door [pure].

No search, no stored answers and files, nothing that it would fetch; one answer, in text, without
guesses of ours that are billed besides it.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from entrance.model.dialects.openai import SHARED_KEYS, SHARED_VALUES, tool_troubles
from entrance.model.dialects.reading import part, parts
from entrance.model.dialects.rules import (
    key_troubles,
    kind_troubles,
    link_troubles,
    picture_bytes,
)

PLAIN_KEYS = SHARED_KEYS | {
    "frequency_penalty",
    "function_call",
    "functions",
    "logit_bias",
    "logprobs",
    "max_completion_tokens",
    "max_tokens",
    "messages",
    "presence_penalty",
    "reasoning_effort",
    "response_format",
    "seed",
    "stop",
    "verbosity",
}
PLAIN_VALUES: Mapping[str, frozenset[Any]] = {**SHARED_VALUES, "n": frozenset({1})}
LOCAL_TOOLS = frozenset({"custom", "function"})
PARTS = frozenset({"file", "image_url", "refusal", "text"})


def troubles(asked: Mapping[str, Any]) -> Iterator[str]:
    """Why a request is not let through: sentences that its sender can act on; none if it is."""
    rest = {key: value for key, value in asked.items() if (key, value) != ("modalities", ["text"])}
    yield from key_troubles(rest, PLAIN_KEYS, PLAIN_VALUES)
    yield from tool_troubles(asked.get("tools"), LOCAL_TOOLS)
    for message in parts(asked.get("messages")):
        if message.get("audio") is not None:
            yield "`audio` is not let through: it is kept at the provider"
        for piece in parts(message.get("content")):
            yield from kind_troubles(piece, PARTS, "content")
            yield from link_troubles(part(piece, "image_url"), ("url",))
            yield from link_troubles(part(piece, "file"), ("file_id", "file_url"))
            if isinstance(piece.get("image_url"), str):
                yield from link_troubles(piece, ("image_url",))


def pictures(asked: Mapping[str, Any]) -> list[int]:
    """The lengths of a request's pictures, in bytes of its body."""
    found = (
        picture_bytes(part(piece, "image_url").get("url"))
        for message in parts(asked.get("messages"))
        for piece in parts(message.get("content"))
    )
    return [size for size in found if size]
