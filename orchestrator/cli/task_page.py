"""How one task looks in a terminal."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console

from orchestrator.cli.screen import one_line, plain, print_table, say, size


def show_task(console: Console, task: Mapping[str, Any]) -> None:
    """Print a task as the API tells it; what people and agents wrote is set off from what we say."""
    disk = task["disk_bytes"]
    facts = {
        "task": task["id"],
        "title": task["title"],
        "status": task["status"],
        "waits for": task["waits_for"],
        "agent": task["agent"],
        "supervisor": task["supervisor"],
        "assigned to": task["assignees"],
        "repository": task["repository"],
        "base branch": task["base_branch"] if task["repository"] else "",
        "disk": "" if disk is None else size(disk),
        "pull request": _proposed(task["runs"]),
    }
    print_table(console, ("", ""), [(name, value) for name, value in facts.items() if value])
    _set_off(console, "description", task["description"])
    for one in task["comments"]:
        title = f": {one_line(one['title'])}" if one["title"] else ""
        _set_off(console, f"{one['at'][:19]} {one_line(one['by'])}{title}", one["text"])
    if task["runs"]:
        say(console, "")
        rows = [
            (
                run["id"],
                run["trigger"],
                run["state"],
                run["outcome"],
                run["cause"],
                run["created_at"][:19],
            )
            for run in task["runs"]
        ]
        columns = ("run", "trigger", "state", "outcome", "cause", "started")
        print_table(console, columns, rows, spare=("started", "trigger"))


def _proposed(runs: Sequence[Mapping[str, Any]]) -> str:
    """Where the newest work is proposed, or why it isn't."""
    told = (run["pull_request"] for run in runs if run["pull_request"])
    made = next(told, None)
    return "" if made is None else made["url"] or f"none: {made['none']}"


def newest_run(run: Mapping[str, Any] | None) -> str:
    """A run in a word or two."""
    if run is None:
        return ""
    return f"{run['outcome']} ({run['cause']})" if run["outcome"] else str(run["state"])


def _set_off(console: Console, head: str, text: str) -> None:
    say(console, f"\n{head}", style="bold")
    for line in plain(text).splitlines() or ["(nothing)"]:
        say(console, f"  {line}")
