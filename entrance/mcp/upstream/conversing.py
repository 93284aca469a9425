"""What a server says while it does something for a client: passed on, asked on, or refused."""

from entrance.decision import Allow, Decision
from entrance.mcp.connection import Caller
from entrance.mcp.messages import Failure, Json
from entrance.mcp.upstream.wire import ASKS, refused

_PASSED_ON = frozenset({"notifications/message", "notifications/progress"})
"""What goes to the client whose request is being done. The rest is for those who listen."""


async def told(caller: Caller, message: Json, token: object, number: int) -> None:
    """Pass a notification on; a progress carries the client's own token again, not ours."""
    method, params = str(message.get("method")), message.get("params")
    if method not in _PASSED_ON or not isinstance(params, dict):
        return
    if method == "notifications/progress":
        if token is None or params.get("progressToken") != number:
            return
        params = {**params, "progressToken": token}
    await caller.back.tell(method, params)


async def answered(caller: Caller, connection: str, message: Json) -> Json | Failure:
    """The answer to what a server asks: the client's where that is granted, else a refusal."""
    method = str(message.get("method"))
    if method == "ping":
        return {}
    decision = await decided(caller, connection, message)
    if not isinstance(decision, Allow):
        return refused(method, decision.reason)
    return await caller.back.ask(method, _params_of(message))


async def decided(caller: Caller, connection: str, message: Json) -> Decision:
    """Whether a server may ask that; it is on record then."""
    ask = ASKS.get(str(message.get("method")))
    return await caller.may_ask(connection, ask, _params_of(message))


def _params_of(message: Json) -> Json:
    params = message.get("params")
    return params if isinstance(params, dict) else {}
