"""Claude Code in a sandbox, headless: how it is started, and its stream of JSON lines read.

Seen with 2.1.332 (`stack/harness_programs.py` pins it); look again at what a newer one does.

- The repository's words are read, its settings are not. No settings file is (`--setting-sources ""`),
  so that no hook, permission, environment or model of `.claude/settings.json` counts, nor of the
  agent's own home; with them goes every CLAUDE.md. Naming the tree once more (`--add-dir`, with its
  variable) brings back the repository's `CLAUDE.md`, `.claude/CLAUDE.md`, `.claude/rules/` and what
  they import, and nothing else. `AGENTS.md` is read where there is no `CLAUDE.md`, as the program
  itself would: a folder of ours that imports it is named too. `.mcp.json` is not read
  (`--strict-mcp-config`).
- Conversations live in `~/.claude/projects/<the folder, dashed>/<id>.jsonl` and are resumed from the
  same folder only. The first system text would be kept for them: `--system-prompt-snapshot off`.
- The run token is in the environment only: the MCP file names its variable.
- What it says of tokens and cost is not read: it counts a turn here and the conversation there.
  The door meters.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import orjson

from orchestrator.harnesses.lines import number_at, object_in, objects, raw, shown, text_at
from orchestrator.ports import Assignment, Start

PROGRAM = "/opt/harness/claude_code/claude"
FOLDER = "/home/agent/.sandgate"
"""Outside of the repository's tree, so that nothing of ours is ever committed."""
WORDS = f"{FOLDER}/words"
LAUNCH = f"""\
curl -s -o /dev/null --retry 60 --retry-delay 1 --retry-max-time 60 --retry-connrefused \
  "$SANDGATE_ENTRANCE/healthz"
if [ -e AGENTS.md ] && [ ! -e CLAUDE.md ]; then set -- "$@" --add-dir={WORDS}; fi
exec "$@" <{FOLDER}/prompt.md
"""
"""The door may be away for a moment, as the runner restarts: later that is waited out by the program
itself, but a server that it can't reach at its start it never asks again."""
SERVER = "sandgate"
TOOLS = "Bash,Edit,NotebookEdit,Read,Task,Write"
"""The tools that are of use in a sandbox. Without the others (web, cron, work trees, workflows...)
every request is half as long, and none asks the provider for a tool of its own."""

RETRIES = 7
"""Pauses double from half a second: about a minute in all, which is what a limit a minute takes to
lift. A `retry-after` of up to a minute is waited for; with a longer one the run ends at once, and its
record says when the limit lifts."""

_CONVERSATION = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")

_MCP = orjson.dumps(
    {
        "mcpServers": {
            SERVER: {
                "type": "http",
                "url": "${SANDGATE_ENTRANCE}/mcp",
                "headers": {"Authorization": "Bearer ${SANDGATE_RUN_TOKEN}"},
            }
        }
    }
)

_SWITCHES: Mapping[str, str] = {
    "CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD": "1",
    # Agents remember in Polarion, where people approve of it.
    "CLAUDE_CODE_DISABLE_AUTO_MEMORY": "1",
    # A command that is moved to the background would be answered after the run's last word.
    "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS": "1",
    # What people write on a task is words: `@file` in it attaches nothing.
    "CLAUDE_CODE_DISABLE_FILE_MENTIONS": "1",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "CLAUDE_CODE_MAX_RETRIES": str(RETRIES),
    "DISABLE_AUTOUPDATER": "1",
    # Else the gateway's tools are held back until the model has looked them up.
    "ENABLE_TOOL_SEARCH": "false",
}


class ClaudeCode:
    """Implements `Harness`."""

    name = "claude_code"
    speaks = frozenset({"anthropic"})

    def start(self, assignment: Assignment) -> Start:
        """The prompt comes from a file on stdin: an argument has a limit, and a task may be long."""
        provider, _, model = assignment.model.partition(":")
        return Start(
            argv=["/bin/sh", "-c", LAUNCH, "sh", *_argv(assignment)],
            env={
                **_SWITCHES,
                "ANTHROPIC_AUTH_TOKEN": assignment.run_token,
                "ANTHROPIC_BASE_URL": f"{assignment.entrance}/model/{provider}",
                # Sub-agents may wish for another model, which the run may not have been granted.
                "CLAUDE_CODE_SUBAGENT_MODEL": model,
                "SANDGATE_ENTRANCE": assignment.entrance,
                "SANDGATE_RUN_TOKEN": assignment.run_token,
                **assignment.env,
            },
            files={
                f"{FOLDER}/system.md": assignment.system.encode(),
                f"{FOLDER}/prompt.md": assignment.prompt.encode(),
                f"{FOLDER}/mcp.json": _MCP,
                f"{WORDS}/CLAUDE.md": f"@{assignment.workdir}/AGENTS.md\n".encode(),
            },
            cwd=assignment.workdir,
        )

    def kept_at(self, conversation: str, workdir: str) -> str:
        """It is found from the same folder only, whose name stands in the path with dashes."""
        folder = re.sub(r"[^A-Za-z0-9]", "-", workdir)
        return f"/home/agent/.claude/projects/{folder}/{conversation}.jsonl"

    def read(self, line: str) -> tuple[str, Mapping[str, Any]]:
        """One line is one event; what has no place among ours is `raw`."""
        said = object_in(line)
        return (said and _READERS.get(text_at(said, "type"), _nothing)(said)) or raw(line)


def _argv(assignment: Assignment) -> Sequence[str]:
    return [
        PROGRAM,
        "--print",
        "--verbose",
        "--output-format=stream-json",
        f"--model={assignment.model.partition(':')[2]}",
        f"--append-system-prompt-file={FOLDER}/system.md",
        "--system-prompt-snapshot=off",
        f"--mcp-config={FOLDER}/mcp.json",
        "--strict-mcp-config",
        "--setting-sources=",
        f"--add-dir={assignment.workdir}",
        f"--tools={TOOLS}",
        "--dangerously-skip-permissions",
        *([f"--resume={assignment.resume}"] if assignment.resume else []),
    ]


_NO_FACTS = frozenset({"session_id", "subtype", "type", "uuid"})

_Event = tuple[str, Mapping[str, Any]]
_Said = Mapping[str, Any]


def _nothing(_: _Said) -> _Event | None:
    return None


def _system(said: _Said) -> _Event | None:
    match said.get("subtype"):
        case "init":
            return "started", _started(said)
        case "api_retry":
            status = said.get("error_status")
            about = f" ({status})" if isinstance(status, int) else ""
            return "retry", {
                "reason": f"{text_at(said, 'error') or 'unknown'}{about}",
                "delay_s": round(number_at(said, "retry_delay_ms") / 1000, 3),
            }
        case _:
            return raw(_aside(said)) if text_at(said, "subtype") else None


def _aside(said: _Said) -> str:
    """A notice that nobody counts on, as words: `vcs_state_changed: kind push, branch agent/x`."""
    facts = [
        f"{key} {value}"
        for key, value in said.items()
        if key not in _NO_FACTS and isinstance(value, str | int | float)
    ]
    return ": ".join(filter(None, (text_at(said, "subtype"), ", ".join(facts))))


def _started(said: _Said) -> Mapping[str, Any]:
    names = said.get("tools")
    tools = [name for name in names if isinstance(name, str)] if isinstance(names, list) else []
    conversation = text_at(said, "session_id")
    return {
        "model": text_at(said, "model"),
        "tools": tools,
        "conversation": conversation if _CONVERSATION.fullmatch(conversation) else "",
        "unreachable": _unreachable(said, tools),
    }


def _unreachable(said: _Said, tools: Sequence[str]) -> str:
    """The program goes on without its server and would end well: whoever reads this must look."""
    servers = objects(said.get("mcp_servers"))
    status = next((text_at(s, "status") for s in servers if s.get("name") == SERVER), "absent")
    if status != "connected":
        return f"the MCP server {SERVER} is {status[:100] or 'silent'}"
    if not any(tool.startswith(f"mcp__{SERVER}__") for tool in tools):
        return f"the MCP server {SERVER} lists no tools"
    return ""


def _assistant(said: _Said) -> _Event | None:
    """Each block of an answer comes in a line of its own. What the program itself says is `raw`."""
    message = said.get("message")
    blocks = objects(message.get("content")) if isinstance(message, dict) else []
    if not blocks:
        return None
    if text_at(message, "model") == "<synthetic>":
        return raw(shown(blocks))
    kinds = {text_at(block, "type") for block in blocks}
    if kinds == {"text"}:
        return "text", {"text": "\n".join(text_at(block, "text") for block in blocks)}
    if kinds <= {"thinking", "redacted_thinking"}:
        return "reasoning", {"text": "\n".join(text_at(block, "thinking") for block in blocks)}
    if kinds == {"tool_use"} and len(blocks) == 1:
        call = blocks[0]
        return "tool_call", {
            "id": text_at(call, "id"),
            "name": text_at(call, "name"),
            "input": call.get("input"),
        }
    return None


def _user(said: _Said) -> _Event | None:
    """Results of tools; several of one line are one event, under the first one's id. Names aren't told."""
    message = said.get("message")
    blocks = objects(message.get("content")) if isinstance(message, dict) else []
    results = [block for block in blocks if block.get("type") == "tool_result"]
    if not results:
        return raw(shown(blocks)) if blocks else None
    return "tool_result", {
        "id": text_at(results[0], "tool_use_id"),
        "name": "",
        "is_error": any(result.get("is_error") is True for result in results),
        "text": "\n\n".join(shown(result.get("content")) for result in results),
    }


_REASONS: Mapping[str, str] = {
    "completed": "completed",
    "aborted_streaming": "interrupted",
    "aborted_tools": "interrupted",
    "blocking_limit": "context",
    "image_error": "context",
    "max_turns": "max_turns",
    "prompt_too_long": "context",
    "rapid_refill_breaker": "context",
}
"""`terminal_reason` -> our word; whatever else it is, is an error. `subtype` says "success" of errors
too, and the exit code is 0 after an interruption."""


def _result(said: _Said) -> _Event:
    reason = _REASONS.get(text_at(said, "terminal_reason"), "error")
    if said.get("is_error") is not False and reason == "completed":
        reason = "error"
    if reason == "completed":
        return "ended", {"reason": reason, "detail": ""}
    errors = said.get("errors")
    told = [text_at(said, "result"), *(errors if isinstance(errors, list) else [])]
    detail = "; ".join(text for text in told if isinstance(text, str) and text)
    return "ended", {"reason": reason, "detail": detail or text_at(said, "subtype")}


_READERS: Mapping[str, Callable[[_Said], _Event | None]] = {
    "assistant": _assistant,
    "result": _result,
    "system": _system,
    "user": _user,
}
