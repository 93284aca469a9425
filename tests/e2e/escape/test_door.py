"""What was not granted is refused at the door, in words that the agent can act on, and recorded."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from tests.e2e.escape.agent import Agent
from tests.e2e.escape.wire import Ask, send, status

pytestmark = [pytest.mark.docker, pytest.mark.timeout(180)]

MODEL = "claude-sonnet-5"
MESSAGES = "POST /model/anthropic/v1/messages"


def call(tool: str, **arguments: str) -> Ask:
    """A tool call, as MCP has it."""
    params = {"name": tool, "arguments": arguments}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    return Ask("POST /mcp", json.dumps(message))


def message(model: str) -> str:
    """The body of a model call."""
    said = [{"role": "user", "content": "Hello."}]
    return json.dumps({"model": model, "max_tokens": 50, "messages": said})


def test_a_tool_that_was_not_granted_is_refused(mole: Agent, neighbour: Agent) -> None:
    """An agent hired without a tool doesn't see it, can't call it by its name, and nothing happens."""
    ask = call("add_comment", text="I was here.")
    [allowed] = send(mole, ask)
    assert '"isError":false' in allowed
    listing = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    assert "add_comment" not in send(neighbour, Ask("POST /mcp", json.dumps(listing)))[0]
    tried = neighbour.attempt(lambda: send(neighbour, ask))
    assert '"isError":true' in tried.got[0]
    assert "Refused: " in tried.got[0]
    line = tried.refused_once("tool_call")
    assert line["subject"] == "polarion/add_comment"
    assert "not granted" in line["reason"]
    assert len(tried.lines) == 1, "something came of it"


def test_a_model_that_was_not_granted_is_refused(mole: Agent) -> None:
    """A run uses its own model and no dearer one."""
    [allowed] = send(mole, Ask(MESSAGES, message(MODEL)))
    assert status(allowed) == 200
    tried = mole.attempt(lambda: send(mole, Ask(MESSAGES, message("claude-opus-4-1"))))
    assert status(tried.got[0]) == 403
    line = tried.refused_once("model_call")
    assert line["subject"] == "anthropic:claude-opus-4-1"
    assert "was not granted to this run" in line["reason"]
    assert len(tried.lines) == 1, "something came of it"


OTHER_APIS = (
    "/model/openai/v1/chat/completions",
    "/model/ANTHROPIC/v1/messages",
    "/model/anthropic/v1/files",
    "/model/anthropic/v1/messages/batches",
    "/model/anthropic/v1/organizations/api_keys",
    "/model/anthropic/%2e%2e/%2e%2e/admin",
    "/model/anthropic//v1/messages",
    "/model/127.0.0.1:80/v1/messages",
)
ELSEWHERE = (
    "GET /",
    "GET /api/runs",
    "POST /v1/sandboxes",
    "GET /api/collections/runs/records",
    "GET /polarion/rest/v1/projects",
    "POST /healthz",
    "GET /model/anthropic/v1/messages",
    "GET http://169.254.169.254/latest/meta-data/",
    "CONNECT 203.0.113.7:443",
    "OPTIONS *",
)


@pytest.fixture(scope="module")
def turned_away(mole: Agent) -> Mapping[str, tuple[int, Mapping[str, Any]]]:
    """Each of these requests, with the status that it got and the one line that was recorded."""
    asked = {path: Ask(f"POST {path}", message(MODEL)) for path in OTHER_APIS}
    asked |= {line: Ask(line) for line in ELSEWHERE}
    tried = mole.attempt(lambda: send(mole, *asked.values()))
    return {
        what: (status(answer), line)
        for what, answer, line in zip(asked, tried.got, tried.lines, strict=True)
    }


@pytest.mark.parametrize("path", OTHER_APIS)
def test_the_key_goes_to_no_other_model_api(
    turned_away: Mapping[str, tuple[int, Mapping[str, Any]]], path: str
) -> None:
    """A model key serves the metered routes only: no other provider, no other path of its own."""
    answered, line = turned_away[path]
    assert answered == 404
    assert (line["kind"], line["decision"]) == ("model_call", "deny")
    assert line["reason"] == "There is no such model API here."


@pytest.mark.parametrize("wanted", ELSEWHERE)
def test_the_door_is_no_way_to_anything_else(
    turned_away: Mapping[str, tuple[int, Mapping[str, Any]]], wanted: str
) -> None:
    """The door is no proxy, and none of the services behind it can be asked through it."""
    answered, line = turned_away[wanted]
    assert answered == 404
    assert (line["kind"], line["decision"], line["subject"]) == ("request", "deny", wanted)
    assert line["reason"] == "there is no such path at this door"
