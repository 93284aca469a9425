"""The tools that an agent works with: it reads, says and makes things, and its run goes on."""

from collections.abc import Mapping

from entrance.errors import SandgateError
from entrance.ports import ToolResult
from orchestrator.adapters.polarion.call import Call
from orchestrator.adapters.polarion.query import matching
from orchestrator.adapters.polarion.resources import NewItem, Text, WorkItem
from orchestrator.adapters.polarion.showing import (
    comments_shown,
    item_shown,
    memories_shown,
    rows_shown,
)

SEARCH_LIMIT = 50
MADE_IN: Mapping[str, str] = {"memory": "learned_in"}
"""How an item is linked to the run that made it, by its type; else as `produced_by`."""


async def get_task(call: Call) -> ToolResult:
    return _shown(await call.client.items.get(call.session.task))


async def get_work_item(call: Call) -> ToolResult:
    return _shown(await call.client.items.get(call.item("id")))


async def list_comments(call: Call) -> ToolResult:
    item = call.item("id", call.session.task)
    comments = await call.client.comments.of(item)
    return ToolResult(comments_shown(comments), touched=(item,))


async def add_comment(call: Call) -> ToolResult:
    item = call.item("id", call.session.task)
    text, title = Text(call.text("text")), call.text("title", "")
    made = await call.client.comments.add(item, text, title=title)
    return ToolResult(f"added comment {made}", touched=(item,))


async def search_work_items(call: Call) -> ToolResult:
    limit = min(int(call.arguments.get("limit", 20)), SEARCH_LIMIT)
    query, project = call.text("query"), call.session.project
    found: list[WorkItem] = []
    async for item in call.client.items.query(query, project=project, page_size=limit):
        if len(found) == limit:
            break
        found.append(item)
    return ToolResult(rows_shown(found), touched=tuple(item.id for item in found))


async def create_work_item(call: Call) -> ToolResult:
    """Marked as made by an agent, linked to the task and to the run that made it."""
    kind, title = call.text("type"), call.text("title")
    record = await call.office.desk.record_of(call.session.run)
    known = await call.made_already(kind, title)
    made = known.id if known else await call.client.items.create(call.session.project, _new(call))
    word = "exists already, this run made it:" if known else "created"
    try:
        await call.link(made, "for_task", call.session.task)
        await call.link(made, MADE_IN.get(kind, "produced_by"), record)
    except SandgateError as error:  # it is made, and has to be in the ledger
        return ToolResult(
            f"{word} {made}, but it could not be linked: {error}", is_error=True, touched=(made,)
        )
    return ToolResult(f"{word} {made}", touched=(made,))


async def update_work_item(call: Call) -> ToolResult:
    item, title = call.item("id"), call.text("title", "")
    text = call.text("description", "")
    if not title and not text:
        raise ValueError("title or description is missing")
    description = Text(text) if text else None
    await call.client.items.update(item, title=title or None, description=description)
    return ToolResult(f"changed {item}", touched=(item,))


async def list_memories(call: Call) -> ToolResult:
    """Those of this agent in this project, whatever their status: what was only proposed, too."""
    limit = min(int(call.arguments.get("limit", 20)), SEARCH_LIMIT)
    query = matching({"type": "memory", "agentBot": call.session.agent})
    project, found = call.session.project, list[WorkItem]()
    async for item in call.client.items.query(query, project=project, sort="~created"):
        if item.custom.get("agentBot") == call.session.agent:
            found.append(item)
        if len(found) == limit:
            break
    return ToolResult(memories_shown(found), touched=tuple(item.id for item in found))


def _new(call: Call) -> NewItem:
    kind = call.text("type")
    own = {"agentBot": call.session.agent} if kind == "memory" else {}
    return NewItem(
        type=kind,
        title=call.text("title"),
        description=Text(call.text("description", "")),
        custom={"aiGenerated": True, "runKey": call.session.run, **own},
    )


def _shown(item: WorkItem) -> ToolResult:
    return ToolResult(item_shown(item), touched=(item.id,))
