"""The uses of a secret known by name: how it is sent, by which methods, to which paths [pure].

A path pattern is matched segment by segment: `*` is one segment, `**` any number of them.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

SchemeName = Literal["bearer", "basic", "x-api-key", "x-goog-api-key", "header"]


@dataclass(frozen=True, slots=True)
class Kind:
    """One known use. `argument`: what the scheme needs besides (a user or header name)."""

    scheme: SchemeName
    methods: frozenset[str]
    paths: tuple[str, ...]
    argument: str = ""


_POST = frozenset({"POST"})
_MESSAGES = ("/**/v1/messages", "/**/v1/messages/count_tokens")

KINDS: Mapping[str, Kind] = {
    "anthropic": Kind("x-api-key", _POST, _MESSAGES),
    "anthropic-bearer": Kind("bearer", _POST, _MESSAGES),
    "openai": Kind("bearer", _POST, ("/**/v1/responses", "/**/v1/chat/completions")),
    "google": Kind("x-goog-api-key", _POST, ("/**/models/*",)),
    "git": Kind(
        "basic",
        frozenset({"GET", "POST"}),
        ("/**/info/refs", "/**/git-upload-pack", "/**/git-receive-pack"),
        argument="x-access-token",
    ),
    "polarion": Kind("bearer", frozenset({"GET", "POST", "PATCH"}), ("/**/rest/v1/**",)),
    "mcp": Kind("bearer", _POST, ("/**/mcp", "/**/sse")),
}
