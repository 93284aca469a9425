"""How each harness names its tools and their arguments. A new harness is a row in each table."""

import posixpath
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from orchestrator.stack.scripted import codex_script
from orchestrator.stack.scripted import codex_tools as codex
from orchestrator.stack.scripted.entries import ActionEntry
from orchestrator.stack.scripted.request import Result, ToolTurn
from orchestrator.stack.scripted.shapes import Arguments, Setting, Shape

DEFAULT_WORKDIR = "/workspace"
_SHELL_TIMEOUT_S = 120

PATCH = "apply_patch"
POLLS: Mapping[str, Callable[[int], Mapping[str, Any]]] = {
    "write_stdin": lambda session: {
        "session_id": session,
        "chars": "",
        "yield_time_ms": codex.YIELD_MS,
    },
    codex_script.WAIT: codex_script.wait,
}
"""Codex's tools for a command that still runs; asking for the rest of its output is no step."""

LOOKUPS: Mapping[str, Callable[[str, str], Arguments]] = {
    "ToolSearch": lambda server, tool: {"query": f"select:mcp__{server}__{tool}"},
    "tool_search": lambda server, tool: {
        "query": f"{tool} {tool.replace('_', ' ')} {server}",
        "limit": 8,
    },
}
"""Tools that must be called before one that the harness holds back (Claude Code's, Codex's)."""


def _present(**values: Any) -> Arguments:
    return {key: value for key, value in values.items() if value is not None}


def _absolute(path: str | None, setting: Setting) -> str:
    return posixpath.join(setting.workdir, path or "")


def _codex(command: Callable[[ActionEntry], str]) -> Mapping[str, Shape]:
    """The shell tools that Codex has, by model."""
    return {
        "exec_command": lambda entry, _: {
            "cmd": command(entry),
            "yield_time_ms": codex.YIELD_MS,
        },
        "shell_command": lambda entry, _: {
            "command": command(entry),
            "timeout_ms": (entry.timeout_s or _SHELL_TIMEOUT_S) * 1000,
        },
    }


SHAPES: Mapping[str, Mapping[str, Shape]] = {
    "shell": {
        "bash": lambda entry, _: _present(command=entry.shell, timeout_s=entry.timeout_s),
        "Bash": lambda entry, _: _present(
            command=entry.shell,
            timeout=entry.timeout_s and entry.timeout_s * 1000,
            description="scripted step",
        ),
        **_codex(codex.run),
        codex_script.EXEC: codex_script.SHAPES["shell"],
    },
    "read": {
        "read": lambda entry, _: _present(
            path=entry.read, offset=entry.from_line, limit=entry.lines
        ),
        "Read": lambda entry, setting: _present(
            file_path=_absolute(entry.read, setting), offset=entry.from_line, limit=entry.lines
        ),
        **_codex(codex.show),
        codex_script.EXEC: codex_script.SHAPES["read"],
    },
    "write": {
        "write": lambda entry, _: _present(path=entry.write, content=entry.content),
        "Write": lambda entry, setting: _present(
            file_path=_absolute(entry.write, setting), content=entry.content
        ),
        PATCH: codex.add,
        **_codex(codex.put),
        codex_script.EXEC: codex_script.SHAPES["write"],
    },
    "edit": {
        "edit": lambda entry, _: _present(path=entry.edit, old=entry.old, new=entry.new),
        "Edit": lambda entry, setting: _present(
            file_path=_absolute(entry.edit, setting), old_string=entry.old, new_string=entry.new
        ),
        PATCH: codex.change,
        **_codex(codex.replace),
        codex_script.EXEC: codex_script.SHAPES["edit"],
    },
}
"""action -> tool name as declared -> its arguments; the first that is declared and can do it."""


def own_call(
    kind: str, entry: ActionEntry, declared: frozenset[str], setting: Setting
) -> tuple[str, Arguments] | None:
    """Tool and arguments for a shell or file action; None if no declared tool can do it."""
    for name, shape in SHAPES[kind].items():
        if name in declared and (arguments := shape(entry, setting)) is not None:
            return name, arguments
    return None


def gateway_tool(entry: ActionEntry, declared: frozenset[str]) -> str | None:
    """The declared name of a gateway tool: of the named server, else of any; None if not offered."""
    wanted = f"mcp__{entry.server}__{entry.mcp}"
    if wanted in declared:
        return wanted
    endings = (name for name in sorted(declared) if name.startswith("mcp__"))
    found = next((name for name in endings if name.split("__", 2)[-1] == entry.mcp), None)
    if found is None and entry.undeclared:
        return wanted
    return found


def workdir_in(system: str) -> str:
    """Where the harness says it works (Claude Code wants absolute paths)."""
    found = re.search(r"(?i)working directory:\s*(/\S*)|<cwd>(/[^<]*)</cwd>", system)
    return found[found.lastindex or 0] if found else DEFAULT_WORKDIR


def is_lookup(turn: ToolTurn) -> bool:
    """Did the harness only look tools up? That is no step of a scenario."""
    return bool(turn.names) and LOOKUPS.keys() >= set(turn.names)


def steps(turns: Iterable[ToolTurn]) -> list[ToolTurn]:
    """The turns that are steps of a scenario; what came later of a command is put to its step."""
    found: list[ToolTurn] = []
    for turn in turns:
        if found and turn.names and POLLS.keys() >= set(turn.names):
            found[-1] = _continued(found[-1], turn)
        elif not is_lookup(turn):
            found.append(turn)
    return found


def _continued(turn: ToolTurn, poll: ToolTurn) -> ToolTurn:
    """Each poll is of the next command that still ran, in order: so they were asked."""
    polled = iter(poll.results)
    results = (
        result if result is None or result.session is None else _joined(result, next(polled, None))
        for result in turn.results
    )
    return replace(turn, results=tuple(results))


def _joined(result: Result, rest: Result | None) -> Result | None:
    return None if rest is None else replace(rest, text=result.text + rest.text)
