"""MCP as an agent in its sandbox speaks it: a program for its shell, with nothing but Python's own."""

import json
from typing import Any

from tests.e2e.escape.agent import Agent

PROGRAM = """
import json, os, sys, urllib.request

def post(message):
    request = urllib.request.Request(
        os.environ["SANDGATE_ENTRANCE"] + "/mcp", json.dumps({"jsonrpc": "2.0", **message}).encode(),
        {"Authorization": "Bearer " + os.environ["SANDGATE_RUN_TOKEN"], **HEADERS},
    )
    with urllib.request.urlopen(request, timeout=55) as answer:
        if session := answer.headers.get("Mcp-Session-Id"):
            HEADERS["Mcp-Session-Id"] = session
        body = answer.read().decode()
    if not body.startswith(("event:", "data:", ":", "id:")):
        return json.loads(body) if body else None
    told = [json.loads(line[6:]) for line in body.splitlines() if line.startswith("data: ")]
    NOTICES.extend(each for each in told if "method" in each)
    return next(each for each in told if "method" not in each)

HEADERS = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
NOTICES = []
client = {"name": "test", "version": "1"}
hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client}
post({"id": 0, "method": "initialize", "params": hello})
HEADERS["MCP-Protocol-Version"] = "2025-11-25"
post({"method": "notifications/initialized"})
answers = [post({"id": n, **each}) for n, each in enumerate(MESSAGES, start=1)]
print(json.dumps({"answers": answers, "notices": NOTICES}))
"""


def spoken(agent: Agent, *messages: dict[str, Any]) -> list[dict[str, Any]]:
    """The answers to these messages, in a session of their own."""
    told: list[dict[str, Any]] = heard(agent, *messages)["answers"]
    return told


def heard(agent: Agent, *messages: dict[str, Any]) -> dict[str, Any]:
    """The answers, and what was told besides."""
    told = f"import json\nMESSAGES = json.loads({json.dumps(messages)!r})\n"
    found: dict[str, Any] = agent.python(told + PROGRAM)
    return found


def calling(tool: str, **arguments: Any) -> dict[str, Any]:
    """The message that calls a tool, with a token for progress."""
    params = {"name": tool, "arguments": arguments, "_meta": {"progressToken": "p"}}
    return {"method": "tools/call", "params": params}


def called(agent: Agent, tool: str, **arguments: Any) -> tuple[str, bool]:
    """What a tool answers, as text, and whether it says that it failed."""
    (answer,) = spoken(agent, calling(tool, **arguments))
    result = answer["result"]
    text = "\n".join(part.get("text", "") for part in result["content"])
    return text, bool(result.get("isError"))


def listed(agent: Agent) -> set[str]:
    """The names of the tools that the agent is shown."""
    (answer,) = spoken(agent, {"method": "tools/list", "params": {}})
    return {tool["name"] for tool in answer["result"]["tools"]}
