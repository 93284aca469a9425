"""The connection `polarion`: what an agent may do in Polarion, as its own bot user.

What a call reads or changes is named in `touched`, for the run's ledger.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from entrance.errors import SandgateError, Unavailable
from entrance.ports import Tool, ToolResult
from entrance.session import Session
from entrance.tool_policy import Facts
from orchestrator.adapters.polarion import asking, concerning, granted, handing, working
from orchestrator.adapters.polarion.call import (
    Access,
    Call,
    Desk,
    Held,
    Office,
    OpenItems,
    ToolAccess,
)
from orchestrator.adapters.polarion.client import PolarionClient
from orchestrator.adapters.polarion.toolbox import TOOLS
from orchestrator.domain.team import Engagement


@dataclass(frozen=True, slots=True)
class PolarionTools:
    """Implements `entrance.ports.ToolProvider`."""

    client_for: Callable[[str], PolarionClient]
    """A client that acts as this bot user."""
    engagements: Callable[[], Awaitable[Sequence[Engagement]]]
    desk: Desk
    now: Callable[[], datetime]
    access: Access | None = None
    held: Held | None = None
    open_items: OpenItems | None = None
    tool_access: ToolAccess | None = None

    connection = "polarion"

    async def tools(self, session: Session) -> Sequence[Tool]:
        del session  # the same for everybody; the gateway shows what was granted
        return TOOLS

    async def facts(self, session: Session, tool: str, arguments: Mapping[str, Any]) -> Facts:
        return await concerning.facts(self.client_for, session, tool, arguments)

    async def call(self, session: Session, tool: str, arguments: Mapping[str, Any]) -> ToolResult:
        act = ACTS.get(tool)
        if act is None:
            return ToolResult(f"there is no tool {tool}", is_error=True)
        office = Office(
            self.desk,
            self.engagements,
            self.now,
            self.access,
            self.held,
            self.open_items,
            self.tool_access,
        )
        try:
            return await act(Call(session, self.client_for(session.agent), office, arguments))
        except Unavailable:
            raise
        except (SandgateError, ValueError) as error:
            return ToolResult(str(error), is_error=True)


ACTS: Mapping[str, Callable[[Call], Awaitable[ToolResult]]] = {
    "get_task": working.get_task,
    "list_comments": working.list_comments,
    "add_comment": working.add_comment,
    "get_work_item": working.get_work_item,
    "search_work_items": working.search_work_items,
    "create_work_item": working.create_work_item,
    "update_work_item": working.update_work_item,
    "list_memories": working.list_memories,
    "list_my_tools": granted.list_my_tools,
    "request_access": asking.request_access,
    "submit_for_approval": handing.submit_for_approval,
    "ask_questions": handing.ask_questions,
    "wait_for_decision": handing.wait_for_decision,
    "delegate": handing.delegate,
}
"""What each tool of the toolbox does; a test holds the two together."""
