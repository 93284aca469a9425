"""The connection `polarion`: what an agent may do in Polarion, as its own bot user.

What a call reads or changes is named in `touched`. Three tools end the run: the handover is noted
first, then done in Polarion; when that fails it is taken back, and the agent is told.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

import orjson

from entrance.errors import SandgateError, Unavailable
from entrance.ports import Tool, ToolResult
from entrance.session import RunId, Session
from orchestrator.adapters.polarion.client import PolarionClient
from orchestrator.adapters.polarion.reading import plain
from orchestrator.adapters.polarion.resources import NewItem, Text, WorkItem
from orchestrator.adapters.polarion.toolbox import TOOLS
from orchestrator.domain.run import Ending, Outcome
from orchestrator.domain.team import Engagement

SEARCH_LIMIT = 50


class Desk(Protocol):
    """The run behind a call."""

    async def record_of(self, run: RunId) -> str:
        """The run's agentRun work item."""
        ...

    async def hand_over(self, run: RunId, ending: Ending) -> None:
        """Note how the agent ends its run. Raises: Conflict when it can't any more."""
        ...

    async def take_back(self, run: RunId) -> None:
        """Forget the handover."""
        ...


@dataclass(frozen=True, slots=True)
class Call:
    """One call's session, client and arguments (checked against the tool's schema at the gateway)."""

    session: Session
    client: PolarionClient
    arguments: Mapping[str, Any]

    def text(self, name: str, default: str | None = None) -> str:
        value = self.arguments.get(name, default)
        if not isinstance(value, str):
            raise ValueError(f"{name} is missing")  # noqa: TRY004 - it is the agent's value
        return value

    def item(self, name: str, default: str | None = None) -> str:
        """A work item's full id; a short one is taken to be of the run's project."""
        wanted = self.text(name, default)
        return wanted if "/" in wanted else f"{self.session.project}/{wanted}"


@dataclass(frozen=True, slots=True)
class PolarionTools:
    """Implements `entrance.ports.ToolProvider`."""

    client_for: Callable[[str], PolarionClient]
    """A client that acts as this bot user."""
    engagements: Callable[[], Awaitable[Sequence[Engagement]]]
    desk: Desk
    now: Callable[[], datetime]

    connection = "polarion"

    async def tools(self, session: Session) -> Sequence[Tool]:
        del session  # the same for everybody; the gateway shows what was granted
        return TOOLS

    async def call(self, session: Session, tool: str, arguments: Mapping[str, Any]) -> ToolResult:
        act = ACTS.get(tool)
        if act is None:
            return ToolResult(f"there is no tool {tool}", is_error=True)
        try:
            return await act(self, Call(session, self.client_for(session.agent), arguments))
        except Unavailable:
            raise
        except (SandgateError, ValueError) as error:
            return ToolResult(str(error), is_error=True)

    async def get_task(self, call: Call) -> ToolResult:
        item = await call.client.items.get(call.session.task)
        return ToolResult(_shown(item), touched=(item.id,))

    async def get_work_item(self, call: Call) -> ToolResult:
        item = await call.client.items.get(call.item("id"))
        return ToolResult(_shown(item), touched=(item.id,))

    async def list_comments(self, call: Call) -> ToolResult:
        item = call.item("id", call.session.task)
        rows = [
            {
                "author": one.author,
                "title": one.title,
                "text": plain(one.text),
                "created": one.created,
            }
            for one in await call.client.comments.of(item)
        ]
        return ToolResult(_json(rows), touched=(item,))

    async def add_comment(self, call: Call) -> ToolResult:
        item = call.item("id", call.session.task)
        made = await call.client.comments.add(
            item, Text(call.text("text")), title=call.text("title", "")
        )
        return ToolResult(f"added comment {made}", touched=(item,))

    async def search_work_items(self, call: Call) -> ToolResult:
        limit = min(int(call.arguments.get("limit", 20)), SEARCH_LIMIT)
        found: list[dict[str, Any]] = []
        query = call.text("query")
        async for item in call.client.items.query(
            query, project=call.session.project, page_size=limit
        ):
            if len(found) == limit:
                break
            found.append(
                {"id": item.id, "type": item.type, "title": item.title, "status": item.status}
            )
        return ToolResult(_json(found), touched=tuple(row["id"] for row in found))

    async def create_work_item(self, call: Call) -> ToolResult:
        """Marked as made by an agent, linked to the task and to the run that made it."""
        session = call.session
        new = NewItem(
            type=call.text("type"),
            title=call.text("title"),
            description=Text(call.text("description", "")),
            custom={"aiGenerated": True, "runKey": session.run, **_marks(call)},
        )
        made = await call.client.items.create(session.project, new)
        await call.client.links.add(made, "for_task", session.task)
        await call.client.links.add(made, "produced_by", await self.desk.record_of(session.run))
        return ToolResult(f"created {made}", touched=(made,))

    async def submit_for_approval(self, call: Call) -> ToolResult:
        summary = call.text("summary")
        branch = call.text("branch", "")
        text = f"{summary}\n\nBranch: {branch}" if branch else summary
        return await self._end(call, Outcome.SUBMITTED, text, action="submit")

    async def ask_questions(self, call: Call) -> ToolResult:
        questions = [str(question) for question in call.arguments["questions"]]
        text = "\n".join(f"{number}. {question}" for number, question in enumerate(questions, 1))
        engagement = await self._engagement(call.session)
        return await self._end(
            call, Outcome.ASKED, text, action="ask", assignee=engagement.supervisor
        )

    async def delegate(self, call: Call) -> ToolResult:
        """The part becomes a task of its own, linked to this one, for another hired agent."""
        session = call.session
        bot = f"bot-{call.text('agent')}"
        hired = {one.bot for one in await self.engagements() if one.project == session.project}
        if bot not in hired - {session.agent}:
            others = ", ".join(sorted(one.removeprefix("bot-") for one in hired - {session.agent}))
            raise ValueError(
                f"{bot.removeprefix('bot-')} is not hired here; hired are: {others or 'none'}"
            )
        parent = await call.client.items.get(session.task)
        new = NewItem(
            type="task",
            title=call.text("title"),
            description=Text(call.text("description")),
            assignees=[bot],
            custom={
                "repository": call.text("repository", str(parent.custom.get("repository") or "")),
                "baseBranch": str(parent.custom.get("baseBranch") or "main"),
                "aiGenerated": True,
                "runKey": session.run,
            },
        )
        made = await call.client.items.create(session.project, new)
        await call.client.links.add(made, "delegated_from", session.task)
        await call.client.links.add(made, "produced_by", await self.desk.record_of(session.run))
        return await self._end(
            call, Outcome.DELEGATED, f"Delegated to {bot} as {made}", action="wait"
        )

    async def _end(
        self, call: Call, outcome: Outcome, text: str, *, action: str, assignee: str = ""
    ) -> ToolResult:
        session, client = call.session, call.client
        await self.desk.hand_over(session.run, Ending(outcome, text, self.now()))
        try:
            await client.comments.add(
                session.task, Text(text), title=f"Run {session.run} {outcome}"
            )
            await client.items.update(
                session.task, assignees=[assignee] if assignee else None, workflow_action=action
            )
        except SandgateError:
            await self.desk.take_back(session.run)
            raise
        return ToolResult(f"{outcome}. This run is over now; stop.", touched=(session.task,))

    async def _engagement(self, session: Session) -> Engagement:
        for one in await self.engagements():
            if one.project == session.project and one.bot == session.agent:
                return one
        raise ValueError("your engagement has ended; nobody can be asked")


def _marks(call: Call) -> dict[str, str]:
    """A memory is the agent's own; it counts once a person has accepted it."""
    return {"agentBot": call.session.agent} if call.text("type") == "memory" else {}


def _shown(item: WorkItem) -> str:
    custom = {
        key: plain(value) if isinstance(value, Text) else value
        for key, value in item.custom.items()
    }
    return _json(
        {
            "id": item.id,
            "type": item.type,
            "title": item.title,
            "status": item.status,
            "description": plain(item.description),
            "assignees": list(item.assignees),
            "author": item.author,
            "fields": custom,
        }
    )


def _json(data: Any) -> str:
    return orjson.dumps(data, option=orjson.OPT_INDENT_2, default=str).decode()


ACTS: Mapping[str, Callable[[PolarionTools, Call], Awaitable[ToolResult]]] = {
    "get_task": PolarionTools.get_task,
    "list_comments": PolarionTools.list_comments,
    "add_comment": PolarionTools.add_comment,
    "get_work_item": PolarionTools.get_work_item,
    "search_work_items": PolarionTools.search_work_items,
    "create_work_item": PolarionTools.create_work_item,
    "submit_for_approval": PolarionTools.submit_for_approval,
    "ask_questions": PolarionTools.ask_questions,
    "delegate": PolarionTools.delegate,
}
"""What each tool of the toolbox does; a test holds the two together."""
