"""The toolbox as agents see it, and what is behind it."""

import jsonschema_rs
import pytest

from entrance.mcp.arguments import trouble_with
from entrance.ports import Tool
from orchestrator.adapters.polarion.toolbox import TOOL_NAMES, TOOLS
from orchestrator.adapters.polarion.tools import ACTS
from orchestrator.adapters.polarion.working import MADE_IN
from polarion_app.config import load

SCHEMAS = {tool.name: tool.input_schema for tool in TOOLS}


def test_every_tool_is_done_by_something_and_nothing_more_is_there() -> None:
    assert set(ACTS) == TOOL_NAMES == {tool.name for tool in TOOLS}
    assert len(TOOLS) == len(TOOL_NAMES)


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_every_schema_is_one_and_bounds_what_it_takes(tool: Tool) -> None:
    jsonschema_rs.meta.validate(dict(tool.input_schema))
    assert tool.input_schema["additionalProperties"] is False
    assert set(tool.input_schema["required"]) <= tool.input_schema["properties"].keys()
    assert trouble_with(tool.input_schema, {"strange": 1})


def test_what_reads_says_so() -> None:
    reading = {tool.name for tool in TOOLS if tool.read_only}
    mine = {"list_memories", "list_my_tools"}
    assert reading == mine | {"get_task", "list_comments", "get_work_item", "search_work_items"}


def test_agents_make_tasks_and_memories_and_nothing_that_decides_anything() -> None:
    """No agent makes an engagement, a skill, an agent, or a run's record."""
    kinds = SCHEMAS["create_work_item"]["properties"]["type"]["enum"]
    assert kinds == ["task", "memory"]
    model = load()
    for kind in kinds:
        role = MADE_IN.get(kind, "produced_by")
        assert {"for_task", role} <= model.link_roles.keys()


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("add_comment", {"text": ""}),
        ("add_comment", {"text": "x" * 100_001}),
        ("create_work_item", {"type": "engagement", "title": "me"}),
        ("ask_questions", {"questions": []}),
        ("ask_questions", {"questions": "why?"}),
        ("search_work_items", {"query": "x", "limit": 0}),
        ("search_work_items", {"query": "x", "limit": 51}),
        ("delegate", {"agent": "max", "title": "T"}),
        ("submit_for_approval", {}),
        ("get_work_item", {}),
    ],
)
def test_arguments_that_will_not_do_are_named(tool: str, arguments: dict[str, object]) -> None:
    assert trouble_with(SCHEMAS[tool], arguments)
