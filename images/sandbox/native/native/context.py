"""Keeping the conversation short: the oldest tool results give way; pairs of call and result stay."""

from collections.abc import Sequence
from dataclasses import replace

from native.conversation import Message, Results, size

DEFAULT_LIMIT_TOKENS = 150_000
"""Above it results are dropped; well below what models take, so that one more answer always fits."""
_AIM = 0.6
"""Down to this part of the limit, so that dropping (which costs the provider's cache) is rare."""
DROPPED = "[dropped to keep the conversation short: run it again if you still need it]"


def aim(size_now: int, tokens_now: int, limit_tokens: int) -> int | None:
    """Characters to get down to, given what the last request took; None if it is short enough."""
    if tokens_now <= limit_tokens:
        return None
    return int(size_now * _AIM * limit_tokens / tokens_now)


def shorten(messages: Sequence[Message], characters: int) -> tuple[list[Message], int]:
    """Drop the oldest results until `characters` are left or nothing more may go; and how many were.

    The last message's results stay: the model has not seen them yet.
    """
    excess = size(messages) - characters
    kept = list(messages)
    dropped = 0
    for at, message in enumerate(messages[:-1]):
        if not isinstance(message, Results):
            continue
        results = list(message.results)
        for number, result in enumerate(results):
            if excess > 0 and len(result.text) > len(DROPPED):
                excess -= len(result.text) - len(DROPPED)
                results[number] = replace(result, text=DROPPED)
                dropped += 1
        kept[at] = Results(tuple(results))
    return kept, dropped
