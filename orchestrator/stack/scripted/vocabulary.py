"""How each harness names its tools and their arguments. A new harness is a row in each table."""

import posixpath
import re
from collections.abc import Callable, Mapping
from typing import Any

from orchestrator.stack.scripted.entries import ActionEntry
from orchestrator.stack.scripted.request import ToolTurn

type Arguments = dict[str, Any]
type Shape = Callable[[ActionEntry, str], Arguments]

DEFAULT_WORKDIR = "/workspace"
LOOKUP = "ToolSearch"
"""Claude Code's tool for tools that it holds back; it must be called before one of those."""


def _present(**values: Any) -> Arguments:
    return {key: value for key, value in values.items() if value is not None}


def _absolute(path: str | None, workdir: str) -> str:
    return posixpath.join(workdir, path or "")


SHAPES: Mapping[str, Mapping[str, Shape]] = {
    "shell": {
        "bash": lambda entry, _: _present(command=entry.shell, timeout_s=entry.timeout_s),
        "Bash": lambda entry, _: _present(
            command=entry.shell,
            timeout=entry.timeout_s and entry.timeout_s * 1000,
            description="scripted step",
        ),
    },
    "read": {
        "read": lambda entry, _: _present(
            path=entry.read, offset=entry.from_line, limit=entry.lines
        ),
        "Read": lambda entry, workdir: _present(
            file_path=_absolute(entry.read, workdir), offset=entry.from_line, limit=entry.lines
        ),
    },
    "write": {
        "write": lambda entry, _: _present(path=entry.write, content=entry.content),
        "Write": lambda entry, workdir: _present(
            file_path=_absolute(entry.write, workdir), content=entry.content
        ),
    },
    "edit": {
        "edit": lambda entry, _: _present(path=entry.edit, old=entry.old, new=entry.new),
        "Edit": lambda entry, workdir: _present(
            file_path=_absolute(entry.edit, workdir), old_string=entry.old, new_string=entry.new
        ),
    },
}
"""action -> tool name as declared -> its arguments (given the entry and the working directory)."""


def own_tool(kind: str, declared: frozenset[str]) -> tuple[str, Shape] | None:
    """The declared tool for a shell or file action, and how its arguments look; None if there is none."""
    return next(((name, shape) for name, shape in SHAPES[kind].items() if name in declared), None)


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
    found = re.search(r"(?i)working directory:\s*(/\S*)", system)
    return found[1] if found else DEFAULT_WORKDIR


def is_lookup(turn: ToolTurn) -> bool:
    """Did the harness only look tools up? That is no step of a scenario."""
    return set(turn.names) == {LOOKUP}
