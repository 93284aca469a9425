"""The tool with which an agent asks a person to open a place on the internet."""

from entrance.ports import ToolResult
from orchestrator.adapters.polarion.call import Call
from orchestrator.domain.inbox import answer_to_agent

CLOSED = (
    "Nothing of the internet can be reached here, and nobody can open it: go on without it, or end "
    "the run by ask_questions."
)


async def request_access(call: Call) -> ToolResult:
    """An item in the inbox; the answer says at once what happens next."""
    access = call.office.access
    if access is None:
        return ToolResult(CLOSED, is_error=True)
    place = call.text("url", "") or call.text("host", "")
    if not place:
        raise ValueError("url or host is missing")
    method, why = call.text("method", "GET"), call.text("why")
    item = await access.ask(call.session.run, place, method, why)
    return ToolResult(answer_to_agent(item), touched=(call.session.task,))
