"""`sandgate task`: the work that is given to agents."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from orchestrator.cli.client import segment
from orchestrator.cli.codes import Code, CommandFailed
from orchestrator.cli.files import read_text
from orchestrator.cli.place import JsonFlag, runner
from orchestrator.cli.repositories import named
from orchestrator.cli.screen import size, tell

app = typer.Typer(no_args_is_help=True, help="Tasks.")
console = Console()

TaskArgument = Annotated[str, typer.Argument(help="The task's id, such as WEB/WEB-2.")]


@app.command("create")
def create_task(
    project: Annotated[str, typer.Option(help="The project.")],
    title: Annotated[str, typer.Option(help="What is to be done, in a line.")],
    description: Annotated[str, typer.Option(help="Text, or `@FILE` to read it from a file.")] = "",
    repo: Annotated[str, typer.Option(help="The repository: its URL, or a local path.")] = "",
    base: Annotated[str, typer.Option(metavar="BRANCH", help="The branch to start from.")] = "main",
    assign: Annotated[
        str | None, typer.Option(metavar="AGENT", help="The agent; assigning starts the run.")
    ] = None,
    json: JsonFlag = False,
) -> None:
    """Create a task; assigned to a hired agent, it is run."""
    text = read_text(Path(description[1:])) if description.startswith("@") else description
    repository = named(repo) if repo else None
    body = {
        "project": project,
        "title": title,
        "description": text,
        "repository": repository.url if repository else "",
        "base_branch": base,
        "assign": assign,
    }
    with runner() as api:
        made = api.post("/api/tasks", body)
    served = [repository.served] if repository and repository.served else []
    hint = f"{made['id']}: watch it with `sandgate run watch {made['id']}`"
    tell(console, made, hint, *served, json=json)


@app.command()
def purge(task: TaskArgument, json: JsonFlag = False) -> None:
    """Remove a task's disk now: its work that was not pushed, and its conversations."""
    with runner() as api:
        gone = api.delete(f"{path_of(task)}/disk")
    tell(
        console,
        gone,
        f"the disk of {task} is removed: {size(gone['freed_bytes'])} freed",
        json=json,
    )


def path_of(task: str) -> str:
    """The task's path in the API. Raises: CommandFailed when it is no task's id."""
    project, slash, item = task.partition("/")
    if not slash or not project or not item:
        raise CommandFailed(f"{task} is no task's id: it is PROJECT/ITEM", Code.USAGE)
    return f"/api/tasks/{segment(project)}/{segment(item)}"
