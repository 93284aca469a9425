"""The Polarion tools as agents see them: names, words, schemas [pure]."""

from collections.abc import Mapping
from typing import Any

from entrance.ports import Tool
from orchestrator.domain.egress import METHODS

_ITEM = {"type": "string", "description": "A work item's id, such as DEMO-12 or DEMO/DEMO-12."}


def _schema(properties: Mapping[str, Any], *required: str) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(required),
        "additionalProperties": False,
    }


def _text(description: str, longest: int = 100_000) -> dict[str, Any]:
    return {"type": "string", "minLength": 1, "maxLength": longest, "description": description}


_TEST = _schema(
    {
        "command": _text("What was run, such as `make test`.", 500),
        "result": {"type": "string", "enum": ["passed", "failed", "not_run"]},
        "detail": _text("What there is to say of it, such as how many.", 2000),
    },
    "command",
    "result",
)

TOOLS: tuple[Tool, ...] = (
    Tool("get_task", "Read the task that you were given.", _schema({}), read_only=True),
    Tool(
        "list_comments",
        "Read the comments of your task, or of another work item, oldest first.",
        _schema({"id": _ITEM}),
        read_only=True,
    ),
    Tool(
        "add_comment",
        "Say something on your task, or on another work item.",
        _schema(
            {"text": _text("What to say."), "title": _text("A short title.", 200), "id": _ITEM},
            "text",
        ),
    ),
    Tool("get_work_item", "Read one work item.", _schema({"id": _ITEM}, "id"), read_only=True),
    Tool(
        "search_work_items",
        "Find work items of the project by a Lucene query, such as `type:task AND title:login*`.",
        _schema(
            {
                "query": _text("The query; write AND and OR between terms.", 2000),
                "limit": {"type": "integer", "minimum": 1, "maximum": 50},
            },
            "query",
        ),
        read_only=True,
    ),
    Tool(
        "create_work_item",
        "Create a work item in the project. It is marked as made by you, and linked to your task and run.",
        _schema(
            {
                "type": {"type": "string", "enum": ["task", "memory"]},
                "title": _text("Its title.", 500),
                "description": _text("Its text."),
            },
            "type",
            "title",
        ),
    ),
    Tool(
        "update_work_item",
        "Change the title or the description of a work item. What a person wrote last waits for a person.",
        _schema(
            {
                "id": _ITEM,
                "title": _text("Its new title.", 500),
                "description": _text("Its new text."),
            },
            "id",
        ),
    ),
    Tool(
        "list_memories",
        "Read what you have learned in this project, newest first. To propose one, create a work item of the"
        " type `memory`; a person makes it count.",
        _schema({"limit": {"type": "integer", "minimum": 1, "maximum": 50}}),
        read_only=True,
    ),
    Tool(
        "list_my_tools",
        "See which tools you may call, which wait for a person, within which bounds, and why not others.",
        _schema({}),
        read_only=True,
    ),
    Tool(
        "request_access",
        "Something on the internet was refused and you need it, or a tool that you were not granted: ask a"
        " person. Give the exact url, or the host for all of it; or the tool and its connection, as"
        " list_my_tools names them. Your run goes on; ask again to see what was decided.",
        _schema(
            {
                "url": _text("The URL that was refused.", 2048),
                "host": _text("Or the host, such as docs.example, for every path of it.", 253),
                "method": {"type": "string", "enum": sorted(METHODS)},
                "connection": _text("Of a tool: the connection that has it.", 100),
                "tool": _text("Or the tool, by its connection's own name.", 200),
                "why": _text("What you need it for, in a sentence or two.", 2000),
            },
            "why",
        ),
    ),
    Tool(
        "submit_for_approval",
        "Your work is done and pushed: hand it to your supervisor. This ends the run. Where the host has"
        " pull requests, one is opened for the branch, with what you say here.",
        _schema(
            {
                "summary": _text("What you did, why, and how you checked it."),
                "branch": _text("The branch that you pushed.", 300),
                "tests": {
                    "type": "array",
                    "items": _TEST,
                    "maxItems": 50,
                    "description": "The tests that you ran, and how each went.",
                },
                "not_verified": _text("What you did not check, or are not sure of.", 10_000),
            },
            "summary",
        ),
    ),
    Tool(
        "ask_questions",
        "You can't go on without answers of a person. This ends the run; the answers start the next one.",
        _schema(
            {
                "questions": {
                    "type": "array",
                    "items": _text("One question.", 5000),
                    "minItems": 1,
                    "maxItems": 20,
                }
            },
            "questions",
        ),
    ),
    Tool(
        "wait_for_decision",
        "What you called or pushed was held for approval, and you can't go on before it is decided. This"
        " ends the run; the decision starts the next one, and you are told what came of it.",
        _schema({"summary": _text("What is held, and how far you came.", 20_000)}, "summary"),
    ),
    Tool(
        "delegate",
        "Give a part of your task to another hired agent as a task of its own. This ends the run;"
        " you go on when the part is done or has failed, and are told how it ended.",
        _schema(
            {
                "agent": _text("The agent's name.", 100),
                "title": _text("The part's title.", 500),
                "description": _text("What is to be done, and how it is known to be done."),
                "repository": _text(
                    "The repository's URL, when it is another than your task's.", 500
                ),
            },
            "agent",
            "title",
            "description",
        ),
    ),
)
TOOL_NAMES = frozenset(tool.name for tool in TOOLS)
