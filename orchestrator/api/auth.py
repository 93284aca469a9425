"""Every call but the health check shows the API's token. Errors leave in one shape."""

import hmac
from collections.abc import Awaitable, Callable, Mapping
from http import HTTPStatus

import structlog
from aiohttp import hdrs, web
from aiohttp.typedefs import Middleware

from entrance.errors import (
    Conflict,
    Forbidden,
    Malformed,
    NotFound,
    SandgateError,
    Unavailable,
)
from orchestrator.api.shapes import BadInput

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
_SENTENCES: dict[int, str] = {
    404: "there is no such path here",
    405: "this path can't be called so",
    413: "the body is too long: 1 MiB is the most",
}


def refusal(status: int, code: str, message: str) -> web.Response:
    """`{"error": {"code", "message"}}`: the one shape in which this API says no."""
    return web.json_response({"error": {"code": code, "message": message}}, status=status)


def require_token(token: str, own: Mapping[str, str] | None = None) -> Middleware:
    """The middleware that asks for `Authorization: Bearer <token>`.

    A path that is in `own` is opened by its own token too.
    """
    wanted = _bearer(token)
    by_path = {path: _bearer(one) for path, one in (own or {}).items()}

    @web.middleware
    async def middleware(request: web.Request, handler: Handler) -> web.StreamResponse:
        shown = request.headers.get(hdrs.AUTHORIZATION, "").encode("utf-8", "surrogateescape")
        if request.path in OPEN or hmac.compare_digest(shown, wanted):
            return await handler(request)
        if hmac.compare_digest(shown, by_path.get(request.path, wanted)):
            return await handler(request)
        answer = refusal(401, "unauthorized", "show the API's token as `Authorization: Bearer ...`")
        answer.headers[hdrs.WWW_AUTHENTICATE] = "Bearer"
        return answer

    return middleware


def _bearer(token: str) -> bytes:
    return f"Bearer {token}".encode()


@web.middleware
async def errors(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Map what handlers raise to answers. A bug says nothing about itself outside the log."""
    try:
        return await handler(request)
    except BadInput as error:
        return refusal(400, "bad_input", str(error))
    except SandgateError as error:
        status = next((s for kind, s in STATUS.items() if isinstance(error, kind)), 500)
        return refusal(status, type(error).__name__.lower(), str(error))
    except web.HTTPException as error:
        return _of_http(error)
    except Exception:
        log.exception("request_failed", method=request.method, path=request.path)
        return refusal(500, "internal", "something went wrong here; the runner's log says what")


def _of_http(error: web.HTTPException) -> web.Response:
    phrase = HTTPStatus(error.status).phrase
    code = phrase.lower().replace(" ", "_")
    answer = refusal(error.status, code, _SENTENCES.get(error.status, phrase))
    if hdrs.ALLOW in error.headers:
        answer.headers[hdrs.ALLOW] = error.headers[hdrs.ALLOW]
    return answer
