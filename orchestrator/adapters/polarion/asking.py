"""The tool with which an agent asks a person to open a place on the internet, or to grant it a tool."""

from entrance.ports import ToolResult
from orchestrator.adapters.polarion.call import Call
from orchestrator.domain.approval import Approval
from orchestrator.domain.inbox import answer_to_agent

CLOSED = (
    "Nothing of the internet can be reached here, and nobody can open it: go on without it, or end "
    "the run by ask_questions."
)
NO_TOOLS = "Nobody can grant a tool here: go on without it, or end the run by ask_questions."


async def request_access(call: Call) -> ToolResult:
    """An item in the inbox; the answer says at once what happens next."""
    named = sorted({"url", "host", "tool"} & call.arguments.keys())
    if len(named) != 1:
        raise ValueError("say one of url, host, and tool with its connection")
    item = await (_tool(call) if "tool" in named else _place(call))
    if isinstance(item, str):
        return ToolResult(item, is_error=True)
    return ToolResult(answer_to_agent(item), touched=(call.session.task,))


async def _place(call: Call) -> Approval | str:
    access = call.office.access
    if access is None:
        return CLOSED
    place = call.text("url", "") or call.text("host", "")
    method, why = call.text("method", "GET"), call.text("why")
    return await access.ask(call.session.run, place, method, why)


async def _tool(call: Call) -> Approval | str:
    access = call.office.tool_access
    if access is None:
        return NO_TOOLS
    connection, tool, why = call.text("connection"), call.text("tool"), call.text("why")
    return await access.ask(call.session, connection, tool, why)
