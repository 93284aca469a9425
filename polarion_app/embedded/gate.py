"""Every request's way in: errors become JSON, the token becomes a caller, media types are checked."""

from collections.abc import Awaitable, Callable
from http import HTTPStatus
from sqlite3 import Connection

import orjson
import structlog
from aiohttp import web

from polarion_app.embedded.database import Database
from polarion_app.embedded.errors import ApiError
from polarion_app.embedded.permissions import Caller
from polarion_app.embedded.records import tokens, users
from polarion_app.embedded.routes.call import API, CALLER, JSON

type Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

HEALTH = "/polarion/embedded/healthz"
"""The one path that needs no token."""
_ACCEPTED = frozenset({"*/*", "application/*", JSON})
_ACCEPTED_CONTENT = frozenset({"*/*", "application/*", "application/octet-stream"})
_log = structlog.get_logger("polarion_app.embedded")


@web.middleware
async def errors_as_json(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Answer whatever goes wrong in the API's own shape, and never with our internals."""
    try:
        return await handler(request)
    except ApiError as error:
        return _answer(error)
    except web.HTTPException as error:
        headers = {"Allow": error.headers["Allow"]} if "Allow" in error.headers else {}
        return _answer(ApiError(HTTPStatus(error.status), None), headers)
    except ConnectionError:
        raise  # the caller hung up: there is nobody to answer
    except Exception:  # noqa: BLE001 - the one place that answers for whatever failed
        _log.exception("request_failed", method=request.method, path=request.rel_url.raw_path)
        return _answer(
            ApiError(HTTPStatus.INTERNAL_SERVER_ERROR, "The server failed; see its log.")
        )


@web.middleware
async def authenticated(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Let nobody in without a valid personal access token; note who it is."""
    if request.path != HEALTH:
        api = request.app[API]
        request[CALLER] = await _caller(request, api.database)
    return await handler(request)


@web.middleware
async def acceptable(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Refuse callers that want neither JSON nor, for contents, bytes."""
    wanted = {
        part.split(";")[0].strip().lower()
        for part in request.headers.get("Accept", "*/*").split(",")
    }
    accepted = _ACCEPTED_CONTENT if request.path.endswith("/content") else _ACCEPTED
    if not wanted & accepted:
        raise ApiError(HTTPStatus.NOT_ACCEPTABLE, None)
    return await handler(request)


async def _caller(request: web.Request, database: Database) -> Caller:
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        raise ApiError(HTTPStatus.UNAUTHORIZED, "No access token")
    model = request.app[API].model
    now = database.now()

    def look_up(db: Connection) -> Caller | None:
        user = tokens.owner(db, token.strip(), now)
        return None if user is None else users.caller(db, user, model)

    caller = await database.read(look_up)
    if caller is None:
        raise ApiError(HTTPStatus.UNAUTHORIZED, "Invalid access token")
    return caller


def _answer(error: ApiError, headers: dict[str, str] | None = None) -> web.Response:
    return web.Response(
        body=orjson.dumps(error.document()),
        status=error.status,
        content_type=JSON,
        headers=headers,
    )
