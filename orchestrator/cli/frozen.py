"""`sandgate frozen`: sandboxes whose honeytoken was touched."""

from collections.abc import Mapping
from typing import Annotated, Any

import typer
from rich.console import Console

from orchestrator.cli.client import segment
from orchestrator.cli.place import JsonFlag, runner
from orchestrator.cli.screen import print_json, print_table, say, tell, tell_each

app = typer.Typer(
    no_args_is_help=True, help="Frozen sandboxes: a honeytoken was about to leave them."
)
console = Console()

RunArgument = Annotated[str, typer.Argument(help="The run's id.")]
WHAT_TO_DO = """
Everything in it stands as it stood; its way out is closed, its token opens nothing.
  look      sandgate run transcript {run}: what the agent did, and what the door recorded
            docker export {container}: the container's files; its disk is mounted beside
  release   sandgate frozen release {run}: a false alarm; the disk stays, the task can be tried again
  discard   sandgate frozen discard {run}: the sandbox and the task's disk are removed"""


@app.command("ls")
def listing(json: JsonFlag = False) -> None:
    """List the frozen sandboxes."""
    with runner() as api:
        found = api.get("/api/frozen")
    columns = ("run", "task", "honeytoken", "was in", "for", "since")
    tell_each(console, found, columns, _row, spare=("since", "for"), json=json)


@app.command()
def show(run: RunArgument, json: JsonFlag = False) -> None:
    """Show what froze a sandbox, and say what can be done."""
    with runner() as api:
        found = api.get(f"/api/frozen/{segment(run)}")
    if json:
        print_json(found)
        return
    print_table(console, ("", ""), list(found.items()))
    container = f"sandbox-{found['sandbox']}"
    say(console, WHAT_TO_DO.format(run=found["run"], container=container))


@app.command()
def release(run: RunArgument, json: JsonFlag = False) -> None:
    """Remove a frozen sandbox; its task's disk stays, and the task can be tried again."""
    _done("release", run, "the task can be tried again", json=json)


@app.command()
def discard(run: RunArgument, json: JsonFlag = False) -> None:
    """Remove a frozen sandbox, and its task's disk with all that is on it."""
    _done("discard", run, "its task's disk is removed", json=json)


def _done(decision: str, run: str, what: str, *, json: bool) -> None:
    with runner() as api:
        gone = api.post(f"/api/frozen/{segment(run)}/{decision}")
    said = f"the sandbox of {gone['run']} ({gone['task']}) is removed; {what}"
    tell(console, gone, said, json=json)


def _row(one: Mapping[str, Any]) -> tuple[object, ...]:
    return (one["run"], one["task"], one["canary"], one["where"], one["subject"], one["at"][:19])
