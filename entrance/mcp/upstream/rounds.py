"""What a modern server asks instead of answering (`input_required`), and what becomes of that.

Each question is decided on like any other. A client of the modern era gets them, and answers in its next
request; any other is asked in its own way, and the request is sent again with its answers. What may not be
asked is declined; where the protocol has no word for that, the request ends.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from entrance.decision import Allow
from entrance.errors import Malformed
from entrance.mcp.connection import Caller
from entrance.mcp.messages import METHOD_NOT_FOUND, Failure, Json
from entrance.mcp.results import text_result
from entrance.mcp.upstream.conversing import answered, decided
from entrance.mcp.upstream.wire import refused

MOST = 10
"""So many rounds one request may have."""
Send = Callable[[dict[str, Any]], Awaitable[Json | Failure]]
"""Sends the request, with these parameters beside its own."""


async def in_rounds(caller: Caller, connection: str, method: str, send: Send) -> Json | Failure:
    """Have a request done, however often its server asks. Raises: Malformed, and as `send`."""
    result = await send({})
    for _ in range(MOST):
        if isinstance(result, Failure) or result.get("resultType") != "input_required":
            return result
        questions = _questions_in(result)
        answers = await _answers(caller, connection, questions)
        if answers is None:
            return result
        failed = [each for each in answers.values() if isinstance(each, Failure)]
        if failed:
            return _ended(method, failed[0].message)
        result = await send(_further(result, answers))
    return _ended(method, f"it has asked {MOST} times")


async def _answers(
    caller: Caller, connection: str, questions: Mapping[str, Json]
) -> dict[str, Json | Failure] | None:
    """The client's answers, or refusals; None where the client is to have the questions themselves."""
    if caller.back.era == "handshake":
        return {name: await answered(caller, connection, each) for name, each in questions.items()}
    decisions = [await decided(caller, connection, each) for each in questions.values()]
    denied = [each for each in decisions if not isinstance(each, Allow)]
    if not denied:
        return None
    reason = denied[0].reason
    return {name: refused(str(each["method"]), reason) for name, each in questions.items()}


def _questions_in(result: Json) -> Mapping[str, Json]:
    """Raises: Malformed."""
    questions = result.get("inputRequests", {})
    if not isinstance(questions, dict):
        raise Malformed("what it asks can't be read")
    for each in questions.values():
        if not isinstance(each, dict) or not isinstance(each.get("method"), str):
            raise Malformed("what it asks can't be read")
    return questions


def _further(result: Json, answers: Mapping[str, Json | Failure]) -> dict[str, Any]:
    """What a request that is sent again says beside what it said first."""
    further: dict[str, Any] = {"inputResponses": answers} if answers else {}
    if "requestState" in result:
        further["requestState"] = result["requestState"]
    return further


def _ended(method: str, why: str) -> Json | Failure:
    told = f"It asks for more than it can have here: {why}"
    return (
        text_result(told, is_error=True)
        if method == "tools/call"
        else Failure(METHOD_NOT_FOUND, told)
    )
