"""`sandgate push`: what agents pushed, what was decided about it, what came of it."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any
from urllib.parse import urlencode

import typer
from rich.console import Console

from orchestrator.cli.client import segment
from orchestrator.cli.held_push import DiffOption, LinesOption, preview_of, print_preview
from orchestrator.cli.place import JsonFlag, runner
from orchestrator.cli.screen import print_json, print_table, say, tell_each

app = typer.Typer(no_args_is_help=True, help="What agents pushed, and what came of it.")
console = Console()

COLUMNS = ("id", "state", "agent", "branches", "repository", "why", "task", "at (UTC)")
SPARE = ("at (UTC)", "repository", "agent", "why")
HELD = "held"


@app.command("ls")
def listing(
    run: Annotated[str, typer.Option(metavar="RUN", help="Of one run.")] = "",
    task: Annotated[str, typer.Option(metavar="TASK", help="Of one task.")] = "",
    state: Annotated[
        str,
        typer.Option(help="Of one state: taken, refused, denied, held, sending or unknown."),
    ] = "",
    limit: Annotated[int, typer.Option(min=1, max=500, help="So many of the newest.")] = 50,
    json: JsonFlag = False,
) -> None:
    """List pushes, newest first: those that were taken, refused, denied, and those that are held."""
    asked = {"run": run, "task": task, "state": state, "limit": str(limit)}
    query = urlencode({name: value for name, value in asked.items() if value})
    with runner() as api:
        found = api.get(f"/api/pushes?{query}")
    tell_each(console, found, COLUMNS, _row, spare=SPARE, json=json)


@app.command()
def show(
    push: Annotated[
        str, typer.Argument(metavar="ID", help="Its number, or its item of the inbox.")
    ],
    diff: DiffOption = True,
    lines: LinesOption = 400,
    json: JsonFlag = False,
) -> None:
    """Show one push: which branches, what was found in it, who decided, what came of it.

    Of one that is held: what it would change, too.
    """
    with runner() as api:
        found = api.get(f"/api/pushes/{segment(push)}")
        held = diff and found["state"] == HELD and found["item"]
        preview, trouble = preview_of(api, push) if held else (None, "")
    if json:
        print_json({**found, "preview": preview})
        return
    told = {
        key: value
        for key, value in found.items()
        if key not in {"updates", "refs", "findings", "detail", "item"}
        and value not in (None, "", {}, [])
    }
    print_table(console, ("", ""), list(told.items()))
    print_table(
        console,
        ("branch", "from", "to"),
        [(one.get("ref"), one.get("old"), one.get("new")) for one in found["updates"]],
    )
    for finding in found["findings"]:
        say(console, f"found: {_words(finding)}", "yellow")
    if found["state"] == HELD:
        say(console, f"decide with `sandgate approvals approve|deny {found['approval']}`")
    if preview:
        print_preview(console, preview, lines)
    if trouble:
        say(console, trouble, "yellow")


def _row(one: Mapping[str, Any]) -> Sequence[object]:
    refs = ", ".join(str(ref).removeprefix("refs/heads/") for ref in one["refs"])
    found = "; ".join(_words(finding) for finding in one["findings"])
    whose = (one["id"], one["state"], one["agent"], refs, one["repository"])
    return *whose, one["reason"] or found, one["task"], one["at"][:19]


def _words(finding: object) -> str:
    """A finding in a line, whatever the log has of it."""
    if isinstance(finding, Mapping):
        return f"{finding.get('mode', '')}: {finding.get('said') or finding.get('rule', '')}"
    return str(finding)
