"""What OpenAI's two APIs share: keys, tools, prices that change, the shape of errors [pure]."""

from collections.abc import Iterator, Mapping
from typing import Any, Literal

from entrance.model.dialects.reading import count, part, parts
from entrance.model.dialects.rules import kind_troubles
from entrance.model.tokens import Tokens

SHARED_KEYS = frozenset(
    {
        "metadata",
        "model",
        "parallel_tool_calls",
        "prompt_cache_key",
        "prompt_cache_options",
        "prompt_cache_retention",
        "safety_identifier",
        "stream",
        "stream_options",
        "temperature",
        "tool_choice",
        "tools",
        "top_logprobs",
        "top_p",
        "user",
    }
)
"""Keys that shape the answer and nothing else."""

SHARED_VALUES: Mapping[str, frozenset[Any]] = {
    "service_tier": frozenset({"auto", "default", "flex"}),
    "store": frozenset({False}),
}
"""Keys that can change the price or what is kept, with the values that don't."""

_TYPES: Mapping[int, str] = {401: "authentication_error", 403: "permission_error"}
BUDGET = "insufficient_quota"
"""The code that tells OpenAI's clients that it is no use to try again."""


def error_object(status: int, code: str, message: str) -> dict[str, Any]:
    """`{message, type, param, code}`."""
    server = 500
    kind = _TYPES.get(status, "invalid_request_error" if status < server else "server_error")
    if code == "budget":
        return {"message": message, "type": BUDGET, "param": None, "code": BUDGET}
    return {"message": message, "type": kind, "param": None, "code": code}


def tool_troubles(tools: Any, allowed: frozenset[str]) -> Iterator[str]:
    """Why tools are not let through: only those that the client runs are."""
    for tool in parts(tools):
        yield from kind_troubles(tool, allowed, "tool")
        if tool.get("type") == "shell" and part(tool, "environment").get("type") != "local":
            yield "the tool type shell is let through with the environment local only"
        yield from tool_troubles(tool.get("tools"), allowed)


def caches(body: bytes) -> Literal["yes", "long"]:
    """The cache is always on; for long it is kept only where that is asked for."""
    return "long" if b'"12h"' in body else "yes"


def tokens(total: int, output: int, details: Mapping[str, Any]) -> Tokens:
    """By a prompt's `total`, which has the cached and the written ones in it."""
    read = min(count(details, "cached_tokens"), total)
    written = min(count(details, "cache_write_tokens"), total - read)
    long = min(count(part(details, "cache_write_tokens_details"), "ttl_12h_tokens"), written)
    return Tokens(
        input=total - read - written,
        output=output,
        cache_read=read,
        cache_write=written - long,
        cache_write_long=long,
    )
