"""Keeping the conversation short: the oldest tool results give way; pairs of call and result stay."""

import json
from collections.abc import Sequence
from typing import Any

Message = dict[str, Any]

DEFAULT_LIMIT_TOKENS = 150_000
"""Above it results are dropped; well below what models take, so that one more answer always fits."""
_AIM = 0.6
"""Down to this part of the limit, so that dropping (which costs the provider's cache) is rare."""
DROPPED = "[dropped to keep the conversation short: run it again if you still need it]"


def size(messages: Sequence[Message]) -> int:
    """Characters of a conversation as it is sent."""
    return len(json.dumps(messages))


def aim(size_now: int, tokens_now: int, limit_tokens: int) -> int | None:
    """Characters to get down to, given what the last request took; None if it is short enough."""
    if tokens_now <= limit_tokens:
        return None
    return int(size_now * _AIM * limit_tokens / tokens_now)


def shorten(messages: list[Message], characters: int) -> int:
    """Drop the oldest results, in place, until `characters` are left or nothing more may go.

    The last message's results stay: the model has not seen them yet. Returns how many were dropped.
    """
    excess = size(messages) - characters
    dropped = 0
    for message in messages[:-1]:
        for block in message["content"] if isinstance(message["content"], list) else ():
            if excess <= 0:
                return dropped
            if block["type"] == "tool_result" and len(block["content"]) > len(DROPPED):
                excess -= len(json.dumps(block["content"])) - len(DROPPED)
                block["content"] = DROPPED
                dropped += 1
    return dropped
