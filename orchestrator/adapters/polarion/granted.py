"""The tool by which an agent sees what it may do, and why not more."""

from typing import Any

from entrance.mcp.policy import rules_of
from entrance.ports import ToolResult
from entrance.session import Session
from entrance.tool_policy import MODES, ConnectionRules, Mode, ToolRule
from orchestrator.adapters.polarion.call import Call
from orchestrator.adapters.polarion.showing import as_json
from orchestrator.adapters.polarion.toolbox import TOOL_NAMES
from orchestrator.domain.tool_grants import rules_json

HOME = "polarion"


async def list_my_tools(call: Call) -> ToolResult:
    """By connection: what each tool's calls come to. Asking opens nothing."""
    return ToolResult(
        as_json([_connection(call.session, name) for name in sorted(call.session.tools)])
    )


def _connection(session: Session, name: str) -> dict[str, Any]:
    rules = rules_of(session, name) or ConnectionRules(others=Mode.FORBIDDEN)
    told: dict[str, Any] = {
        "connection": name,
        "tools": [_tool(tool, rule) for tool, rule in sorted(rules.tools.items())],
        "others": MODES[rules.others],
    }
    if scope := rules_json(rules).get("scope"):
        told["only_about"] = scope
    missing = sorted(TOOL_NAMES - rules.tools.keys()) if name == HOME else []
    if missing and rules.others is Mode.FORBIDDEN:
        told["not_granted"] = missing
        told["why_not"] = "your engagement doesn't name them; ask your supervisor by ask_questions"
    return told


def _tool(name: str, rule: ToolRule) -> dict[str, Any]:
    told = {"tool": name, "mode": str(rule.mode), "means": MODES[rule.mode]}
    if rule.arguments:
        beyond = "held for a person" if rule.beyond == "hold" else "refused"
        told |= {"arguments_must_fit": rule.arguments, "else": beyond}
    return told
