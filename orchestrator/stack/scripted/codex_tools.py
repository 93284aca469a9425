"""What Codex's tools are told: it has a shell and `apply_patch` where others have read, write, edit.

A patch names whole lines. The lines around an edit are known if the file was read before it; if
not, or if a patch can't say it exactly, a command does the same.
"""

import shlex

from orchestrator.stack.scripted.entries import ActionEntry
from orchestrator.stack.scripted.shapes import Setting

YIELD_MS = 30_000
"""How long a command may take before Codex asks the model whether to wait on; its own upper limit."""

_REPLACE = """\
import sys
path, old, new = sys.argv[1:]
text = open(path, newline="").read()
if text.count(old) != 1:
    sys.exit(f"{path}: what to replace is there {text.count(old)} times, not once")
open(path, "w", newline="").write(text.replace(old, new))
"""


def run(entry: ActionEntry) -> str:
    """The command; stopped after its time if it has one, as `exec_command` has no such argument."""
    command = entry.shell or ""
    if entry.timeout_s is None:
        return command
    return f"timeout -k 2 {entry.timeout_s} bash -c {shlex.quote(command)}"


def show(entry: ActionEntry) -> str:
    """A command that prints the file, or its lines."""
    path = shlex.quote(entry.read or "")
    if entry.from_line is None and entry.lines is None:
        return f"cat -- {path}"
    first = entry.from_line or 1
    last = "$" if entry.lines is None else first + entry.lines - 1
    return f"sed -n '{first},{last}p' -- {path}"


def put(entry: ActionEntry) -> str:
    """A command that writes the file, to the byte."""
    path = shlex.quote(entry.write or "")
    return f'mkdir -p -- "$(dirname -- {path})" && printf %s {shlex.quote(entry.content)} > {path}'


def replace(entry: ActionEntry) -> str:
    """A command that replaces the one place where `old` stands."""
    return shlex.join(["python3", "-c", _REPLACE, entry.edit or "", entry.old, entry.new])


def add(entry: ActionEntry, _: Setting) -> str | None:
    """A patch that makes or replaces the file; a patch's lines all end."""
    path, content = entry.write or "", entry.content
    if not _fits(path, content) or not content.endswith("\n"):
        return None
    return _patch(f"Add File: {path}", [f"+{line}" for line in content[:-1].split("\n")])


def change(entry: ActionEntry, setting: Setting) -> str | None:
    """A patch of the lines in which `old` stands."""
    path = entry.edit or ""
    text = setting.seen(path)
    if text is None or text.count(entry.old) != 1 or not _fits(path, text + entry.new):
        return None
    at = text.index(entry.old)
    start, end = text.rfind("\n", 0, at) + 1, at + len(entry.old)
    if not entry.old.endswith("\n"):
        end = text.find("\n", end) + 1 or len(text)
    before, after = text[start:end], text[start:at] + entry.new + text[at + len(entry.old) : end]
    if after and before.endswith("\n") != after.endswith("\n"):
        return None
    lines = [f"-{line}" for line in _lines(before)] + [f"+{line}" for line in _lines(after)]
    return _patch(f"Update File: {path}", ["@@", *lines])


def _fits(path: str, text: str) -> bool:
    """Patches know relative paths and lines that end in a line feed alone."""
    return not path.startswith("/") and "\n" not in path and "\r" not in text


def _lines(text: str) -> list[str]:
    return text.removesuffix("\n").split("\n") if text else []


def _patch(head: str, lines: list[str]) -> str:
    return "\n".join(["*** Begin Patch", f"*** {head}", *lines, "*** End Patch", ""])
