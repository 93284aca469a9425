"""Every call but the health check shows the API's token. Errors leave in one shape."""

import hmac
from collections.abc import Awaitable, Callable

import structlog
from aiohttp import web
from aiohttp.typedefs import Middleware

from entrance.errors import (
    Conflict,
    Forbidden,
    Malformed,
    NotFound,
    SandgateError,
    Unavailable,
)

log = structlog.get_logger()

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
OPEN = frozenset({"/api/health"})
STATUS: dict[type[SandgateError], int] = {
    NotFound: 404,
    Conflict: 409,
    Forbidden: 403,
    Malformed: 502,
    Unavailable: 503,
}


def refusal(status: int, code: str, message: str) -> web.Response:
    """`{"error": {"code", "message"}}`: the one shape in which this API says no."""
    return web.json_response({"error": {"code": code, "message": message}}, status=status)


def require_token(token: str) -> Middleware:
    """The middleware that asks for `Authorization: Bearer <token>`."""

    @web.middleware
    async def middleware(request: web.Request, handler: Handler) -> web.StreamResponse:
        shown = request.headers.get("Authorization", "").removeprefix("Bearer ")
        if request.path in OPEN or hmac.compare_digest(shown.encode(), token.encode()):
            return await handler(request)
        return refusal(401, "unauthorized", "show the API's token as `Authorization: Bearer ...`")

    return middleware


@web.middleware
async def errors(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Map what handlers raise to answers. A bug says nothing about itself outside the log."""
    try:
        return await handler(request)
    except SandgateError as error:
        status = next((s for kind, s in STATUS.items() if isinstance(error, kind)), 500)
        return refusal(status, type(error).__name__.lower(), str(error))
    except web.HTTPException as error:
        return refusal(error.status, "http", error.reason)
    except Exception:
        log.exception("request_failed", method=request.method, path=request.path)
        return refusal(500, "internal", "something went wrong here; the runner's log says what")
