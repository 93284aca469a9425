"""The tools glob and grep: where files are and what stands in them."""

import itertools
import os
import re
import shutil
import time
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from native.output import Outcome, Spill, ToolError
from native.schema import parameters
from native.shell import Shell
from native.text import readable

MOST_FILES = 500
MOST_HITS = 500
SEARCH_S = 60
_LARGEST_FILE_BYTES = 2 << 20
_LONGEST_LINE = 300
_NO_HIT = "Exit code 1"
_SKIPPED = frozenset({".git"})

GLOB = "Find files by a pattern such as `**/*.py`, below path (default: the working directory)."
GLOB_SCHEMA = parameters(("pattern",), pattern={"type": "string"}, path={"type": "string"})
GREP = "Search the content of files by a regular expression: `file:line:text`. `glob` limits the file names."
GREP_SCHEMA = parameters(
    ("pattern",), pattern={"type": "string"}, path={"type": "string"}, glob={"type": "string"}
)


class Search:
    """Finds things below one working directory."""

    def __init__(
        self, workdir: Path, shell: Shell, spill: Spill, *, ripgrep: str | None = None
    ) -> None:
        self._workdir = workdir
        self._shell = shell
        self._spill = spill
        self._ripgrep = ripgrep

    def glob(self, given: dict[str, Any]) -> Outcome:
        """The tool."""
        root = self._root(given)
        try:
            matches = (
                path for path in root.glob(given["pattern"]) if not _SKIPPED & set(path.parts)
            )
            found = sorted(itertools.islice((str(path) for path in matches), MOST_FILES + 1))
        except (ValueError, NotImplementedError, OSError, re.error) as error:
            raise ToolError(f"{given['pattern']!r}: {error}") from error
        return Outcome(_listed(found, MOST_FILES, "files") or "No files found.")

    def grep(self, given: dict[str, Any]) -> Outcome:
        """The tool: ripgrep where there is one."""
        self._root(given)
        if self._ripgrep is None:
            return self._grep_ourselves(given)
        command = [self._ripgrep, "--line-number", "--no-heading", "--color=never", "--hidden"]
        command += ["--glob=!.git", f"--max-columns={_LONGEST_LINE}", "--sort=path"]
        command += [f"--glob={given['glob']}"] if "glob" in given else []
        command += ["-e", given["pattern"], "--", given.get("path", ".")]
        outcome = self._shell.run(command, SEARCH_S, name="grep.txt")
        return Outcome("No matches.") if outcome.text == _NO_HIT else outcome

    def _grep_ourselves(self, given: dict[str, Any]) -> Outcome:
        try:
            pattern = re.compile(given["pattern"])
        except re.error as error:
            raise ToolError(f"{given['pattern']!r} is not a regular expression: {error}") from error
        root = self._workdir / str(given.get("path", "."))
        hits = _hits(pattern, root, given.get("glob", "*"), time.monotonic() + SEARCH_S)
        first = itertools.islice(hits, MOST_HITS + 1)
        found = _listed(
            [hit.removeprefix(f"{self._workdir}/") for hit in first], MOST_HITS, "matches"
        )
        return Outcome(self._spill.bounded(found, "grep.txt") or "No matches.")

    def _root(self, given: dict[str, Any]) -> Path:
        root = self._workdir / str(given.get("path", "."))
        if not root.exists():
            raise ToolError(f"{root} does not exist")
        return root


def ripgrep() -> str | None:
    """Where ripgrep is, if it is there."""
    return shutil.which("rg")


def _listed(found: list[str], most: int, what: str) -> str:
    text = "\n".join(found[:most])
    return f"{text}\n[more than {most} {what}: narrow the search]" if len(found) > most else text


def _hits(pattern: re.Pattern[str], root: Path, name: str, deadline: float) -> Iterator[str]:
    for path in _files(root):
        if time.monotonic() > deadline:
            yield f"[stopped after {SEARCH_S} s: narrow the search]"
            return
        if fnmatch(path.name, name):
            yield from _hits_in(pattern, path)


def _files(root: Path) -> Iterator[Path]:
    if not root.is_dir():
        yield root
        return
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(set(folders) - _SKIPPED)
        yield from (Path(folder, name) for name in sorted(names))


def _hits_in(pattern: re.Pattern[str], path: Path) -> Iterator[str]:
    try:
        if not path.is_file() or path.stat().st_size > _LARGEST_FILE_BYTES:
            return
        content = path.read_bytes()
    except OSError:
        return
    if b"\0" in content:
        return
    for number, line in enumerate(readable(content).split("\n"), 1):
        if pattern.search(line):
            yield f"{path}:{number}:{line[:_LONGEST_LINE]}"
