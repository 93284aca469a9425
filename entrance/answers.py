"""What the door says when it says no: one shape for every JSON client, plain text for git.

Model SDKs, MCP clients and people's tools all find what they look for in
`{"type": "error", "error": {"type", "code", "message"}}`; git prints a text body as `remote: ...`.
"""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

import orjson
from aiohttp import web

GIT = "/git/"

_TYPES: Mapping[int, str] = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    529: "overloaded_error",
}


def error_body(status: int, code: str, message: str) -> dict[str, Any]:
    """The JSON shape of every error. `code` is ours and stable; `type` is what model SDKs know."""
    kind = _TYPES.get(status, "invalid_request_error" if status < HTTPStatus(500) else "api_error")
    return {"type": "error", "error": {"type": kind, "code": code, "message": message}}


def refusal(
    path: str, status: int, code: str, message: str, headers: Mapping[str, str] | None = None
) -> web.Response:
    """The answer to a request at `path` that gets nothing else."""
    if path.startswith(GIT):
        return web.Response(status=status, text=f"{message}\n", headers=headers)
    return web.Response(
        status=status,
        body=orjson.dumps(error_body(status, code, message)),
        content_type="application/json",
        headers=headers,
    )
