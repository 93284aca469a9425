"""What a held push would change, on the screen. All of it was written by an agent: it is data."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from orchestrator.cli.client import Runner, segment
from orchestrator.cli.codes import CommandFailed
from orchestrator.cli.screen import plain, print_table, say

DiffOption = Annotated[
    bool, typer.Option("--diff/--no-diff", help="Of a held push, what it would change.")
]
LinesOption = Annotated[
    int, typer.Option("--lines", min=0, help="So many lines of the diff; 0: all there are.")
]
LONGEST_LINE = 400
_STYLES: tuple[tuple[str, str], ...] = (
    ("diff --git", "bold"),
    ("+++", "bold"),
    ("---", "bold"),
    ("@@", "cyan"),
    ("+", "green"),
    ("-", "red"),
)
"""How a line of a diff begins, and how it is shown; the first that fits."""


def preview_of(api: Runner, push: str) -> tuple[dict[str, Any] | None, str]:
    """What a held push would change; or None, and why that can't be shown."""
    try:
        return api.get(f"/api/pushes/{segment(push)}/diff"), ""
    except CommandFailed as error:
        return None, f"what it changes can't be shown: {error}"


def print_preview(console: Console, found: Mapping[str, Any], most_lines: int) -> None:
    """Print commits, files and the diff, with what of it isn't shown."""
    commits = [
        (one["oid"][:12], one["at"][:19], one["author"], one["subject"]) for one in found["commits"]
    ]
    say(console, "")
    print_table(console, ("commit", "at", "author", "subject"), commits)
    say(console, "")
    files = [
        (one["path"], _count("+", one["added"]), _count("-", one["removed"]))
        for one in found["files"]
    ]
    print_table(console, ("file", "added", "removed"), files)
    say(console, "")
    lines = str(found["patch"]).split("\n")
    shown = lines[:most_lines] if most_lines else lines
    for line in shown:
        console.print(diff_line(line), soft_wrap=True)
    if left := len(lines) - len(shown):
        say(console, f"… {left} more lines: `--lines 0` shows them", "yellow")
    if found["cut"]:
        say(
            console,
            "… the push is larger than what is shown: not all of it can be seen here",
            "yellow",
        )


def diff_line(line: str) -> Text:
    """One line of a diff; what a terminal would obey in it is gone."""
    style = next((style for start, style in _STYLES if line.startswith(start)), "")
    text = plain(line)
    if len(text) > LONGEST_LINE:
        text = f"{text[:LONGEST_LINE]}… ({len(text) - LONGEST_LINE} more characters)"
    return Text(text, style=style)


def exact(item: Mapping[str, Any]) -> Iterator[tuple[str, object]]:
    """What would be sent: where to, which branches it moves, and the bytes that are kept."""
    wanted = item["wanted"]
    yield "wants", item["title"]
    yield "host", wanted.get("url", "")
    if item.get("beside"):
        others = ", ".join(item["beside"])
        yield "beside it", f"{others}: of the same branch; only the first that you allow arrives"
    for one in wanted.get("moved", []):
        yield f"moves {one['ref']}", _move(one)
    yield "kept", f"{wanted.get('size_bytes')} bytes, SHA-256 {wanted.get('sha256')}"


def _move(one: Mapping[str, Any]) -> str:
    old = str(one["old"])
    return f"from {old} to {one['new']}" if old.strip("0") else f"new, at {one['new']}"


def _count(sign: str, number: int) -> str:
    return "binary" if number < 0 else f"{sign}{number}"
