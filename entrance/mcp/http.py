"""The one route of the MCP gateway: `POST /mcp`."""

from typing import assert_never

import orjson
from aiohttp import hdrs, web

from entrance.answers import refusal
from entrance.decision import Deny
from entrance.errors import Unavailable
from entrance.honeytokens.watch import TO_THE_SANDBOX, Attempt, Watch
from entrance.identity import SESSION
from entrance.intake import BodyRefused, read_body
from entrance.log.records import Audit, Decided
from entrance.mcp.gateway import Gateway
from entrance.mcp.messages import INTERNAL_ERROR, CallTool, ListTools, Reply, failure, success
from entrance.mcp.protocol import read
from entrance.ports import ToolResult
from entrance.session import Session

PATH = "/mcp"
BODY_BYTES = 4 << 20


def routes(gateway: Gateway, audit: Audit, watch: Watch) -> list[web.RouteDef]:
    """The gateway's route. An Origin is refused: a page that was rebound to this address."""

    async def handle(request: web.Request) -> web.Response:
        session = request[SESSION]
        if request.method != hdrs.METH_POST:
            message = "Only POST is served here: there are no sessions and no streams."
            return refusal(PATH, 405, "method", message, {hdrs.ALLOW: hdrs.METH_POST})
        try:
            body = await _message(request)
        except BodyRefused as refused:
            reason = Deny(str(refused))
            await audit.decided(Decided("request", f"POST {PATH}", reason, session))
            return refusal(PATH, refused.status, "not_taken", str(refused))
        headers = {name.lower(): request.headers.getall(name) for name in request.headers}
        asked = read(headers, body)
        if found := watch.look(session, body):
            await watch.refuse(session, found, "a message to a tool", _attempt(asked))
            return refusal(PATH, 403, "refused", TO_THE_SANDBOX)
        return _sent(await _answer(gateway, session, asked))

    return [web.route("*", PATH, handle)]


def _attempt(asked: Reply | ListTools | CallTool) -> Attempt:
    if isinstance(asked, CallTool):
        return Attempt("tool_call", asked.name[:200])
    return Attempt("request", f"POST {PATH}")


async def _message(request: web.Request) -> bytes:
    if hdrs.ORIGIN in request.headers:
        raise BodyRefused(403, "A request with an Origin is not taken: no browser is in here.")
    return await read_body(request, BODY_BYTES)


async def _answer(gateway: Gateway, session: Session, asked: Reply | ListTools | CallTool) -> Reply:
    match asked:
        case Reply():
            return asked
        case ListTools():
            try:
                return success(asked, {"tools": await gateway.tools(session)})
            except Unavailable as error:
                return failure(asked.id, INTERNAL_ERROR, str(error))
        case CallTool():
            called = gateway.call(session, asked.name, asked.arguments, asked.call)
            return success(asked, _result(await called))
        case _:
            assert_never(asked)


def _result(result: ToolResult) -> dict[str, object]:
    return {"content": [{"type": "text", "text": result.text}], "isError": result.is_error}


def _sent(reply: Reply) -> web.Response:
    if reply.body is None:
        return web.Response(status=reply.status)
    return web.Response(
        status=reply.status, body=orjson.dumps(reply.body), content_type="application/json"
    )
