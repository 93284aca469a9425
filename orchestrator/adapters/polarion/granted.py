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
WHY_NOT = "your engagement names no others"
HOW = (
    "ask a person for one by request_access, with its connection, its name, and why; "
    "what is forbidden stays so"
)
NOBODY = "ask your supervisor by ask_questions"
_MORE = {
    "scope": "only_about",
    "prompts": "prompts",
    "resources": "resources",
    "asks": "its_server_may_ask_you_for",
}


async def list_my_tools(call: Call) -> ToolResult:
    """By connection: what each tool's calls come to, and how to ask for more. Asking opens nothing."""
    access = call.office.tool_access
    known = {*call.session.tools, *(access.connections if access else ())}
    ask = f"{WHY_NOT}; {HOW if access else NOBODY}"
    return ToolResult(as_json([_connection(call.session, name, ask) for name in sorted(known)]))


def _connection(session: Session, name: str, ask: str) -> dict[str, Any]:
    rules = rules_of(session, name) or ConnectionRules(others=Mode.FORBIDDEN)
    told: dict[str, Any] = {
        "connection": name,
        "tools": [_tool(tool, rule) for tool, rule in sorted(rules.tools.items())],
        "others": MODES[rules.others],
    }
    said = rules_json(rules)
    told |= {words: said[name] for name, words in _MORE.items() if name in said}
    if rules.others is Mode.FORBIDDEN:
        missing = sorted(TOOL_NAMES - rules.tools.keys()) if name == HOME else []
        told |= {"not_granted": missing} if missing else {}
        told |= {"why_not": ask} if missing or name != HOME else {}
    return told


def _tool(name: str, rule: ToolRule) -> dict[str, Any]:
    told = {"tool": name, "mode": str(rule.mode), "means": MODES[rule.mode]}
    if rule.arguments:
        beyond = "held for a person" if rule.beyond == "hold" else "refused"
        told |= {"arguments_must_fit": rule.arguments, "else": beyond}
    return told
