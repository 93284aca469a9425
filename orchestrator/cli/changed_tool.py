"""Tools that have changed, on the screen. All of it was written by a server: it is data."""

from collections.abc import Mapping
from typing import Any

from rich.console import Console

from orchestrator.cli.held_push import diff_line
from orchestrator.cli.screen import say
from orchestrator.domain.pins import diff_of


def print_changes(console: Console, item: Mapping[str, Any], most_lines: int) -> None:
    """Print what has changed of each."""
    for change in item["wanted"]["tools"]:
        say(console, "")
        say(console, f"{change['tool']}: SHA-256 {change['old_sha256']}, now {change['sha256']}")
        if change["old"] is None:
            say(
                console, "what it was is too long to be kept: all that it is now is shown", "yellow"
            )
        lines = diff_of(change)
        for line in lines[:most_lines] if most_lines else lines:
            console.print(diff_line(line), soft_wrap=True)
        if most_lines and len(lines) > most_lines:
            left = len(lines) - most_lines
            say(console, f"… {left} more lines: `--lines 0` shows them", "yellow")
