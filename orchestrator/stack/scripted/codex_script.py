"""What Codex's newer models write: a script that calls the tools, given to the one tool `exec`.

What a script says begins as Codex's own results do, so that it is read like them.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from orchestrator.stack.scripted import codex_tools
from orchestrator.stack.scripted.entries import ActionEntry
from orchestrator.stack.scripted.shapes import Setting, Shape

EXEC = "functions__exec"
WAIT = "functions__wait"
"""For a script that still runs after `LONGEST_MS`."""
LONGEST_MS = 600_000

_HEAD = f'// @exec: {{"yield_time_ms": {LONGEST_MS}}}\n'
_COMMAND = """\
let told = await tools.exec_command({"cmd": %s, "yield_time_ms": %d});
let output = told.output;
while (told.session_id !== undefined) {
  told = await tools.write_stdin(
    {"session_id": told.session_id, "chars": "", "yield_time_ms": %d});
  output += told.output;
}
text(`Wall time: 0 seconds\\nProcess exited with code ${told.exit_code}\\nOutput:\\n${output}`);
"""
_PATCH = "await tools.apply_patch(%s);\n"
_TOOL = """\
const told = await tools[%s](%s);
text((told.isError ? "Error: " : "") + told.content.map((part) => part.text ?? "").join("\\n"));
"""


def run(entry: ActionEntry, _: Setting) -> str:
    return _command(codex_tools.run(entry))


def show(entry: ActionEntry, _: Setting) -> str:
    return _command(codex_tools.show(entry))


def add(entry: ActionEntry, setting: Setting) -> str:
    """By a patch where one can say it, as the model would."""
    patch = codex_tools.add(entry, setting)
    return _command(codex_tools.put(entry)) if patch is None else _patch(patch)


def change(entry: ActionEntry, setting: Setting) -> str:
    patch = codex_tools.change(entry, setting)
    return _command(codex_tools.replace(entry)) if patch is None else _patch(patch)


def call(tool: str, arguments: Mapping[str, Any]) -> str:
    """A script that calls a gateway's tool by its full name, in which there all other signs are `_`."""
    return _HEAD + _TOOL % (json.dumps(re.sub(r"\W", "_", tool)), json.dumps(arguments))


def wait(cell: int) -> Mapping[str, Any]:
    """What the tool is told that waits for a script."""
    return {"cell_id": str(cell), "yield_time_ms": codex_tools.YIELD_MS}


SHAPES: Mapping[str, Shape] = {"shell": run, "read": show, "write": add, "edit": change}


def _command(command: str) -> str:
    each = codex_tools.YIELD_MS
    return _HEAD + _COMMAND % (json.dumps(command), each, each)


def _patch(patch: str) -> str:
    return _HEAD + _PATCH % json.dumps(patch)
