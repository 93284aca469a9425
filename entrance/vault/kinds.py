"""The uses of a secret known by name: how it is sent, by which methods, to which paths [pure].

A path pattern is matched segment by segment: `*` is one segment, `**` any number of them.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

SchemeName = Literal[
    "bearer",
    "basic",
    "x-api-key",
    "x-goog-api-key",
    "header",
    "git-host",
    "app-jwt",
    "oauth-client",
]
"""`git-host`: basic on git's own paths, bearer on every other. `app-jwt`: a key that signs what goes.
`oauth-client`: what a client shows its authorization server; what goes are the tokens that it gets."""


@dataclass(frozen=True, slots=True)
class Kind:
    """One known use. `argument`: what the scheme needs besides (a user or header name)."""

    scheme: SchemeName
    methods: frozenset[str]
    paths: tuple[str, ...]
    argument: str = ""


_POST = frozenset({"POST"})
_GET_POST = frozenset({"GET", "POST"})
GIT_PATHS = ("/**/info/refs", "/**/git-upload-pack", "/**/git-receive-pack")
_PULLS = ("/**/repos/*/*/pulls", "/**/repos/*/*/pulls/*")
"""Deeper ones merge: no secret of ours goes there."""
_MERGES = ("/**/api/v4/projects/*/merge_requests", "/**/api/v4/projects/*/merge_requests/*")
MCP_PATHS = ("/**/mcp", "/**/sse", "/**/message", "/**/messages", "/**/messages/", "/**/messages/*")
"""Those after `/sse` are where servers of legacy SSE take messages."""
_ALL = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"})
_MESSAGES = ("/**/v1/messages", "/**/v1/messages/count_tokens")

KINDS: Mapping[str, Kind] = {
    "api": Kind("bearer", _ALL, ("/**",)),
    "api-basic": Kind("basic", _ALL, ("/**",)),
    "api-header": Kind("header", _ALL, ("/**",)),
    "anthropic": Kind("x-api-key", _POST, _MESSAGES),
    "anthropic-bearer": Kind("bearer", _POST, _MESSAGES),
    "openai": Kind("bearer", _POST, ("/**/v1/responses", "/**/v1/chat/completions")),
    "google": Kind("x-goog-api-key", _POST, ("/**/models/*",)),
    "git": Kind("basic", _GET_POST, GIT_PATHS, argument="x-access-token"),
    "github": Kind(
        "git-host", _GET_POST | {"PATCH"}, (*GIT_PATHS, *_PULLS), argument="x-access-token"
    ),
    "github-app": Kind(
        "app-jwt",
        _GET_POST,
        ("/**/repos/*/*/installation", "/**/app/installations/*/access_tokens"),
    ),
    "gitlab": Kind(
        "git-host",
        _GET_POST | {"PUT"},
        (*GIT_PATHS, "/**/api/v4/projects", *_MERGES),
        argument="oauth2",
    ),
    "gitea": Kind(
        "git-host", _GET_POST | {"PATCH"}, (*GIT_PATHS, *_PULLS), argument="x-access-token"
    ),
    "polarion": Kind("bearer", frozenset({"GET", "POST", "PATCH"}), ("/**/rest/v1/**",)),
    "mcp": Kind("bearer", _GET_POST | {"DELETE"}, MCP_PATHS),
    "mcp-oauth": Kind("oauth-client", _GET_POST | {"DELETE"}, MCP_PATHS),
}
