"""The tools of three harnesses, at work in a folder: what a model's calls come to."""

import re
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

type Came = tuple[str, bool]
"""What a tool says, and whether it failed."""

NATIVE = ("bash", "read", "write", "edit", "mcp__sandgate__get_task")
CLAUDE = ("Bash", "Read", "Write", "Edit", "ToolSearch")
"""Its gateway tools are held back until they are looked up."""
CODEX = ("exec_command", "write_stdin", "apply_patch", "tool_search")
GATEWAY_TOOL = "mcp__sandgate__get_task"


@dataclass
class Workbench:
    """A folder and the tools to work in it. `used` is what was called, in order."""

    folder: Path
    tools: Sequence[str]
    used: list[str] = field(default_factory=list)
    _running: dict[int, subprocess.Popen[str]] = field(default_factory=dict)

    def do(self, name: str, given: Any) -> Came:
        """Call a tool by its name, as its harness would."""
        self.used.append(name)
        tools: Mapping[str, Callable[[Any], Came]] = {
            "bash": lambda it: self._bash(it["command"]),
            "Bash": lambda it: self._bash(it["command"]),
            "read": lambda it: self._read(it["path"]),
            "Read": lambda it: self._read(it["file_path"]),
            "write": lambda it: self._write(it["path"], it["content"]),
            "Write": lambda it: self._write(it["file_path"], it["content"]),
            "edit": lambda it: self._edit(it["path"], it["old"], it["new"]),
            "Edit": lambda it: self._edit(it["file_path"], it["old_string"], it["new_string"]),
            "exec_command": lambda it: self._exec(it["cmd"]),
            "write_stdin": lambda it: self._poll(it["session_id"]),
            "apply_patch": self._patch,
            GATEWAY_TOOL: lambda it: (f"task {it['id']} is open", False),
        }
        return tools[name](given)

    def _bash(self, command: str) -> Came:
        done = subprocess.run(
            ["bash", "-c", command], cwd=self.folder, capture_output=True, text=True, check=False
        )
        head = f"Exit code {done.returncode}\n" if done.returncode else ""
        return head + done.stdout + done.stderr, bool(done.returncode)

    def _read(self, path: str) -> Came:
        return (self.folder / path).read_text(), False

    def _write(self, path: str, content: str) -> Came:
        (self.folder / path).write_text(content)
        return "written", False

    def _edit(self, path: str, old: str, new: str) -> Came:
        text = (self.folder / path).read_text()
        assert text.count(old) == 1
        return self._write(path, text.replace(old, new))

    def _exec(self, command: str) -> Came:
        """Codex gives a command's output with a head, and goes on without it if it is slow."""
        process = subprocess.Popen(
            ["bash", "-lc", command],
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        if "slow" in command:
            self._running[len(self._running) + 1] = process
            return self._headed(f"Process running with session ID {len(self._running)}", "")
        return self._ended(process)

    def _poll(self, session: int) -> Came:
        return self._ended(self._running[session])

    def _ended(self, process: subprocess.Popen[str]) -> Came:
        output, _ = process.communicate(timeout=30)
        return self._headed(f"Process exited with code {process.returncode}", output)

    def _headed(self, state: str, output: str) -> Came:
        head = f"Chunk ID: 0a1b2c\nWall time: 0.0100 seconds\n{state}\nOriginal token count: 1\n"
        return f"{head}Output:\n{output}", False

    def _patch(self, text: str) -> Came:
        """Just what is needed of Codex's patches: add a file, or replace lines in one place."""
        kind, path, body = re.fullmatch(
            r"\*\*\* Begin Patch\n\*\*\* (Add|Update) File: (.*?)\n(.*)\*\*\* End Patch\n",
            text,
            re.DOTALL,
        ).groups()  # type: ignore[union-attr] # a patch that isn't one fails the test
        lines = body.splitlines(keepends=True)
        old, new = ("".join(line[1:] for line in lines if line[0] == sign) for sign in "-+")
        if kind == "Add":
            self._write(path, new)
        else:
            before = (self.folder / path).read_text()
            assert f"\n{before}".count(f"\n{old}") == 1, "a patch is of whole lines"
            self._write(path, before.replace(old, new))
        return "Exit code: 0\nWall time: 0 seconds\nOutput:\nSuccess.\n", False
